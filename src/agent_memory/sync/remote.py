"""The remote of a store: which one it is, what it has, fetching from it, pushing to it.

No call asks anybody for a password, and none of the remote's tags, submodules or hooks comes along.
"""

from __future__ import annotations

import os
import re
import shlex

from attrs import frozen

from agent_memory.errors import RecorderFailed, RemoteUnavailable, SyncRefused, UsageInvalid
from agent_memory.files.durable import make_directories, replace_file
from agent_memory.files.paths import store_io
from agent_memory.git.git_process import TIMED_OUT, GitOutput, GitProcess, directory_of
from agent_memory.redaction.redact import redact
from agent_memory.text.plain_text import one_line

INCOMING = "refs/agent-memory/incoming"
"""The ref of a fetched branch while it is examined."""

_SAID_CHARS = 300
_BRANCHES = "refs/heads/"
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_REJECTED = re.compile(
    r"\[rejected\]|fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|incorrect old value"
    r"|reference already exists|failed to lock"
)
_CAUSES = (
    (
        "login",
        re.compile(
            r"Authentication failed|could not read (?:Username|Password)|Permission denied \(|Host key verification failed"
            r"|terminal prompts disabled|error: 40[13]|HTTP 40[13]|Invalid username or"
        ),
    ),
    (
        "network",
        re.compile(
            r"Could not resolve|Connection (?:refused|timed out|reset|closed)|Network is unreachable|No route to host"
            r"|Failed to connect|early EOF|hung up|RPC failed|unexpected disconnect|did not end within|Operation timed out"
            r"|invalid index-pack|index-pack died|curl \d+"
        ),
    ),
    ("gone", re.compile(r"does not appear to be a git repo|not found|does not exist|No such (?:file|remote)")),
    ("refused", re.compile("")),
)

_FIRST = "origin"
_DRIVER = "agent-memory"
MERGED_BY = f"merge={_DRIVER}"
"""In a `.gitattributes`; a git that does not know the driver merges as text."""
_MERGED = ("topics/*.md", "archive/*.md", "state/**/*.json", "state/*.json", "usage/*.jsonl")


@frozen
class Remote:
    """A remote, by its name in the repository's configuration or by its address."""

    git: GitProcess
    address: str
    """Its name, or where it is."""
    shown: str
    """For people: without credentials in the address."""

    def branches(self) -> tuple[frozenset[str], str]:
        """Returns the names of its branches, without `refs/heads/`, and its default branch; empty if there is none."""
        output = self._reach("reach", "ls-remote", "--symref", "--quiet", self.address)
        lines = [line.partition("\t") for line in output.stdout.decode("utf-8", "replace").splitlines()]
        first = next((what for what, _, name in lines if name == "HEAD" and what.startswith(f"ref: {_BRANCHES}")), "")
        branches = (name.removeprefix(_BRANCHES) for _, _, name in lines if name.startswith(_BRANCHES))
        return frozenset(branches), first.removeprefix(f"ref: {_BRANCHES}")

    def fetch(self, branch: str) -> None:
        """Fetches its branch as `INCOMING`, complete and checked by git; the work tree is not touched."""
        words = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--no-prune")
        self._reach("fetch from", "fetch", *words, self.address, f"+{_BRANCHES}{branch}:{INCOMING}")

    def push(self, commit: str, branch: str, replacing: str | None = None) -> bool:
        """Pushes the commit to its branch, which only ever grows; with `replacing`, after a purge, the branch is
        replaced as long as it is still exactly that commit. False if another machine has pushed meanwhile: that has to
        be merged first."""
        lease = () if replacing is None else (f"--force-with-lease={_BRANCHES}{branch}:{replacing}",)
        words = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", *lease)
        output = self._answer("push to", "push", *words, self.address, f"{commit}:{_BRANCHES}{branch}")
        if output.ok:
            return True
        said = output.stdout.decode("utf-8", "replace")
        if _REJECTED.search(said) and "[remote rejected] (hook" not in said:
            return False
        raise self._unavailable("push to", f"{output.stderr}\n{said}")

    def _reach(self, operation: str, *words: str) -> GitOutput:
        output = self._answer(operation, *words)
        if not output.ok:
            raise self._unavailable(operation, output.stderr)
        return output

    def _answer(self, operation: str, *words: str) -> GitOutput:
        try:
            return self.git.reach(*words)
        except RecorderFailed as error:
            if error.exit_status == TIMED_OUT:
                raise self._unavailable(operation, error.stderr_tail) from error
            raise

    def _unavailable(self, operation: str, said: str) -> RemoteUnavailable:
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith(("To ", "Done"))]
        cause, words = next((cause, words) for cause, words in _CAUSES if words.search(said))
        telling = next(filter(words.search, lines), " ".join(lines[:2]))
        shown = one_line(redact(_CREDENTIALS.sub("", telling)).text, _SAID_CHARS)
        return RemoteUnavailable(self.shown, operation, cause, shown.removeprefix("fatal: ") or "it said nothing")


# -- which one --------------------------------------------------------------------------------------------------------


def chosen_remote(git: GitProcess, address: str | None) -> Remote:
    """Returns the remote that a person names, else `origin`, else the only one. SyncRefused if there is none."""
    names = _names(git)
    if address is not None and address not in names:
        # What git might take for something other than an address (P21).
        if not address.strip() or address.startswith("-") or re.search(r"[\x00-\x1f\x7f]", address):
            raise UsageInvalid("--remote needs the address of a git repository")
        if re.match(r"[A-Za-z0-9+.-]+::", address):
            raise UsageInvalid("--remote does not take an address that runs a program", "Use https, ssh or a path.")
        return Remote(git, address, _shown(address))
    name = address or (_FIRST if _FIRST in names else names[0] if len(names) == 1 else None)
    if name is None:
        many = f"the store has several remotes ({', '.join(names[:5])})" if names else "the store has no remote"
        hint = "Set one with `memory sync --remote URL`: an empty repository that only you can read."
        raise SyncRefused(many, hint)
    return Remote(git, name, _shown(os.fsdecode(git.must("remote", "get-url", name)).strip()))


def keep_remote(git: GitProcess, address: str, branch: str, program: str | None) -> None:
    """Makes this the store's remote, and tells git how to merge notes when a person pulls by hand: `info/attributes`,
    which no clone or commit brings along, says which merge driver is for which files. `program` is `memory`, absolute;
    None if it is not known."""
    names = _names(git)
    if address not in names:
        git.must("remote", *(("set-url", _FIRST, address) if _FIRST in names else ("add", _FIRST, address)))
        git.must("config", f"branch.{branch}.remote", _FIRST)
        git.must("config", f"branch.{branch}.merge", f"{_BRANCHES}{branch}")
    for key, value in (settings := driver_settings(program)):
        git.must("config", key, value)
    if settings:
        directory = str(directory_of(git) / "info")
        path = f"{directory}/attributes"
        try:
            try:
                with open(path, encoding="utf-8", errors="surrogateescape") as stream:
                    text = stream.read()
            # Anything else is never taken for a missing file (P6): a person may have written there.
            except FileNotFoundError:
                text = ""
            missing = [line for each in _MERGED if (line := f"{each} {MERGED_BY}") not in text.splitlines()]
            if missing:
                make_directories(directory)
                start = text if not text or text.endswith("\n") else f"{text}\n"
                lines = start + "".join(f"{line}\n" for line in missing)
                replace_file(path, lines.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise store_io(error, "write", path) from error


def driver_settings(program: str | None) -> tuple[tuple[str, str], ...]:
    """Returns the git settings that make notes be merged by `memory`; none if the program is not known."""
    if program is None:
        return ()
    how = f"{shlex.quote(program)} merge-driver %O %A %B %P"
    return (f"merge.{_DRIVER}.name", "agent-memory: notes field by field"), (f"merge.{_DRIVER}.driver", how)


def _names(git: GitProcess) -> tuple[str, ...]:
    return tuple(os.fsdecode(git.must("remote")).splitlines())


def whole_address(address: str | None, cwd: str) -> str | None:
    """Returns the address; for an existing directory its absolute path."""
    if not address or "://" in address:
        return address
    there = os.path.join(cwd, os.path.expanduser(address))
    return os.path.abspath(there) if os.path.isdir(there) else address


def _shown(address: str) -> str:
    return one_line(redact(_CREDENTIALS.sub("", address)).text, _SAID_CHARS)
