"""The remote of a store: what it has, fetching it, pushing to it. No call asks anybody for a password, none of the remote's
tags, submodules or hooks comes along."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, RecorderFailed, RemoteUnavailable, UsageInvalid
from agent_memory.results import sealed

INCOMING = "refs/agent-memory/incoming"
"""What was fetched last."""

_SAID_CHARS = 300
_BRANCHES = "refs/heads/"
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_REJECTED = re.compile(
    r"\[rejected\]|fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|incorrect old value"
    r"|reference already exists|failed to lock"
)
_TIMED_OUT = 124

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
            r"|invalid index-pack|index-pack died|curl \d+",
        ),
    ),
    ("gone", re.compile(r"does not appear to be a git repo|not found|does not exist|No such (?:file|remote)")),
)


@frozen
class RemoteRefs:
    """The branches of a remote, and which of them is its first."""

    branches: Mapping[str, str] = field(factory=dict[str, str])
    """Commit by name, without `refs/heads/`."""
    head: str | None = None


@frozen
class Pushed:
    """`landed` is False where another machine had pushed meanwhile: then what it pushed is to be merged first."""

    landed: bool


@frozen
class Remote:
    """One remote, by its name in the repository's configuration, or by its address."""

    git: GitProcess
    address: str
    """Its name, or where it is."""
    shown: str
    """For people: without what an address may hold of credentials."""

    def refs(self) -> Result[RemoteRefs, Error]:
        """What it has; nothing for an empty repository."""
        return self._call("reach", "ls-remote", "--symref", "--quiet", self.address).map(_refs)

    def fetch(self, branch: str) -> Result[None, Error]:
        """Have its branch as `INCOMING`, complete and checked by git; the work tree is not touched."""
        words = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--no-prune")
        spec = f"+{_BRANCHES}{branch}:{INCOMING}"
        return self._call("fetch from", "fetch", *words, self.address, spec).map(lambda _: None)

    def push(self, commit: str, branch: str, replacing: str | None = None) -> Result[Pushed, Error]:
        """Make the commit its branch, which only ever grows. With `replacing`, after a purge, the branch is replaced as long
        as it still is exactly that commit."""
        lease = () if replacing is None else (f"--force-with-lease={_BRANCHES}{branch}:{replacing}",)
        words = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", *lease)
        pushed = self.git.reach("push", *words, self.address, f"{commit}:{_BRANCHES}{branch}")

        def landed(output: GitOutput) -> Result[Pushed, Error]:
            if output.ok:
                return Success(Pushed(True))
            said = output.stdout.decode("utf-8", "replace")
            if _REJECTED.search(said) and "[remote rejected] (hook" not in said:
                return Success(Pushed(False))
            return Failure(self._unavailable("push to", f"{output.stderr}\n{said}"))

        return self._answered("push to", pushed).bind(landed)

    def _call(self, operation: str, *words: str) -> Result[bytes, Error]:
        def checked(output: GitOutput) -> Result[bytes, Error]:
            if output.ok:
                return Success(output.stdout)
            return Failure(self._unavailable(operation, output.stderr))

        return self._answered(operation, self.git.reach(*words)).bind(checked)

    def _answered(self, operation: str, called: Result[GitOutput, Error]) -> Result[GitOutput, Error]:
        match sealed(called):
            case Failure(RecorderFailed(_, status, said)) if status == _TIMED_OUT:
                return Failure(self._unavailable(operation, said))
            case _:
                return called

    def _unavailable(self, operation: str, said: str) -> RemoteUnavailable:
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith(("To ", "Done"))]
        cause = next((cause for cause, words in _CAUSES if words.search(said)), "refused")
        telling = next((line for line in lines if dict(_CAUSES).get(cause, _ANY).search(line)), " ".join(lines[:2]))
        shown = one_line(redact(_CREDENTIALS.sub("", telling)).text, _SAID_CHARS)
        return RemoteUnavailable(self.shown, operation, cause, shown.removeprefix("fatal: ") or "it said nothing")


_ANY = re.compile("")


def shown_address(address: str) -> str:
    """An address without credentials and secrets."""
    return one_line(redact(_CREDENTIALS.sub("", address)).text, _SAID_CHARS)


def checked_address(address: str) -> Result[str, UsageInvalid]:
    """An address that git takes for nothing but an address (P21)."""
    if not address.strip() or address.startswith("-") or re.search(r"[\x00-\x1f\x7f]", address):
        return Failure(UsageInvalid("--remote needs the address of a git repository"))
    if re.match(r"[A-Za-z0-9+.-]+::", address):
        return Failure(UsageInvalid("--remote takes no address that names a program", "Use https, ssh or a path."))
    return Success(address)


def _refs(listed: bytes) -> RemoteRefs:
    branches: dict[str, str] = {}
    head = None
    for line in listed.decode("utf-8", "replace").splitlines():
        what, _, name = line.partition("\t")
        if what.startswith(f"ref: {_BRANCHES}") and name == "HEAD":
            head = what.removeprefix(f"ref: {_BRANCHES}")
        elif name.startswith(_BRANCHES):
            branches[name.removeprefix(_BRANCHES)] = what
    return RemoteRefs(branches, head)
