"""The `git` of one store, as a child process that the caller's environment and configuration cannot affect (P4).

Measured: an inherited `GIT_DIR` committed memory into the user's project. So the environment is built anew, every call
names the repository and its work tree, and the user's and system's configuration is not read.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from agent_memory.errors import RecorderFailed
from agent_memory.files.durable import create_file, make_directories, move_file
from agent_memory.files.paths import as_store_io, exists, files_below, is_directory, names_in
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result
from agent_memory.rules.commit_message import IGNORE_FILE, IGNORE_TEXT

_NETWORK_SECONDS = 600.0
"""The limit for a call to a remote: a first sync over a slow line."""
_NOT_STARTED = 127
_UNHEARD = 126
TIMED_OUT = 124

_PASSED_OUT = (
    *("HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
"""Variables that a call to a remote needs besides: where to find the person's keys and proxies."""
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "core.quotePath=false",
    "core.fsync=all",
    "commit.gpgSign=false",
    "commit.cleanup=whitespace",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    "advice.detachedHead=false",
)
_QUIET = (
    "core.askPass=",
    "credential.interactive=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "submodule.recurse=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "transfer.credentialsInUrl=allow",
)


_PROGRAM = """
import os, runpy, sys
sys.path[:], module = sys.argv[1].split(os.pathsep), sys.argv[2]
del sys.argv[1:3]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""Runs a module found on this process's path, however an installer set that up."""


OURSELVES = ("agent-memory", "agent-memory@localhost")
"""The author of our commits: name and address."""


@frozen
class GitOutput:
    status: int
    stdout: bytes
    stderr: str

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def text(self) -> str:
        """Returns standard output without its final newline."""
        return os.fsdecode(self.stdout).rstrip("\n")


class GitProcess:
    """Calls of git on the repository `<root>/.git` and no other, whatever is around the root. Every call raises
    RecorderFailed if git could not be started or did not end in time."""

    def __init__(self, root: Path, environ: Mapping[str, str], limit_seconds: float = 60) -> None:
        self.root = root
        self.directory = root / ".git"
        self._environ, self._limit_seconds = environ, limit_seconds

    def run(
        self, *arguments: str, input: bytes = b"", author: tuple[str, str] = OURSELVES, config: tuple[str, ...] = ()
    ) -> GitOutput:
        """Returns git's output, even if git failed. `config` has further `key=value` pairs for this call."""
        return self._run_to_end(
            self._command(config, arguments), f"git {arguments[0]}", input, self._environment(author)
        )

    def must(self, *arguments: str, input: bytes = b"", author: tuple[str, str] = OURSELVES) -> bytes:
        """Returns the standard output; raises RecorderFailed if git failed."""
        output = self.run(*arguments, input=input, author=author)
        if not output.ok:
            raise failed(arguments, output)
        return output.stdout

    def reach(self, *arguments: str) -> GitOutput:
        """Like `run`, for calls to a remote: reads the person's own git configuration, which says how to log in, but
        without its hooks, signatures and maintenance; never asks anybody for a password."""
        environment = self._environment(OURSELVES)
        for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
            del environment[name]
        environment |= {name: self._environ[name] for name in _PASSED_OUT if name in self._environ}
        environment |= {"GCM_INTERACTIVE": "never", "GIT_LFS_SKIP_SMUDGE": "1"}
        command = self._command(_QUIET, arguments)
        return self._run_to_end(command, f"git {arguments[0]}", b"", environment, _NETWORK_SECONDS)

    def init(self) -> None:
        """Runs `git init` in the root without any configured templates; harmless if there is a repository."""
        words = ("init", "--quiet", "--template=", str(self.root))
        output = self._run_to_end([*self._git(), *words], "git init", b"", self._environment(OURSELVES))
        if not output.ok:
            raise failed(words, output)

    def python(self, module: str, *arguments: str) -> GitOutput:
        """Runs a module of ours as its own program in the repository's directory, with the same git environment."""
        environment = self._environment(OURSELVES)
        environment["GIT_DIR"] = str(self.directory)
        environment["GIT_CONFIG_COUNT"] = str(len(_OPTIONS))
        for number, option in enumerate(_OPTIONS):
            key, _, value = option.partition("=")
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        command = [sys.executable, "-I", "-c", _PROGRAM, os.pathsep.join(filter(None, sys.path)), module, *arguments]
        return self._run_to_end(command, "git filter-repo", b"", environment, _NETWORK_SECONDS, self.directory)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _git(self, config: tuple[str, ...] = ()) -> list[str]:
        program = shutil.which("git", path=self._environ.get("PATH", os.defpath))
        if program is None:
            said = "git was not found on PATH; install it, or set storage.autoCommit to false"
            raise RecorderFailed("git", _NOT_STARTED, said)
        return [program, *(part for option in (*_OPTIONS, *config) for part in ("-c", option))]

    def _command(self, config: tuple[str, ...], arguments: tuple[str, ...]) -> list[str]:
        located = ("--git-dir", str(self.directory), "--work-tree", str(self.root), "--literal-pathspecs")
        return [*self._git(config), *located, *arguments]

    def _environment(self, author: tuple[str, str]) -> dict[str, str]:
        passed = {name: self._environ[name] for name in ("PATH", "TMPDIR", "TZ") if name in self._environ}
        return {
            **passed,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.root.parent),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": author[0],
            "GIT_AUTHOR_EMAIL": author[1],
            "GIT_COMMITTER_NAME": OURSELVES[0],
            "GIT_COMMITTER_EMAIL": OURSELVES[1],
        }

    def _run_to_end(
        self,
        command: list[str],
        shown: str,
        input: bytes,
        environment: dict[str, str],
        limit_seconds: float | None = None,
        directory: Path | None = None,
    ) -> GitOutput:
        """Runs the command to its end; after the time limit the whole process group is killed."""
        limit_seconds = limit_seconds or self._limit_seconds
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory or self.root,
                env=environment,
                umask=0o077,
                start_new_session=True,
            )
        except OSError as error:
            said = f"git could not be started: {error.strerror or error}"
            raise RecorderFailed(shown, _NOT_STARTED, said) from error
        with child:
            try:
                stdout, stderr = child.communicate(input, timeout=limit_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise RecorderFailed(shown, TIMED_OUT, f"it did not end within {limit_seconds:g} s") from None
            except OSError as error:  # of its pipes
                os.killpg(child.pid, signal.SIGKILL)
                said = f"it could not be reached: {error.strerror or error}"
                raise RecorderFailed(shown, _UNHEARD, said) from error
        return GitOutput(child.returncode, stdout, stderr.decode("utf-8", "replace"))


def failed(arguments: tuple[str, ...], output: GitOutput) -> RecorderFailed:
    """Returns the error for a failed call, with the end of git's output, redacted."""
    said = redact(output.stderr.strip() or output.stdout.decode("utf-8", "replace").strip()).text
    return RecorderFailed(f"git {arguments[0]}", output.status, said[-600:].rstrip("."))


# -- the repository ---------------------------------------------------------------------------------------------------
# The store's own repository: created on the first record, repaired when broken, kept small, never deleted (P4). Git's
# locks are plain files, so a killed git leaves them behind. Ours never overlap (every record holds the store's write
# lock); a lock belongs to a person's git, or to nobody.


_LOCK_WAIT_SECONDS = 3.0
"""Longer than a lock takes to become stale, so that a run right after a crash removes it."""

LOOSE_OBJECTS = 2_000
"""The number of loose objects from which they are packed: some months of daily work."""
_LOOSE_SIZE = re.compile(rb"^size: ([0-9]{1,15})$", re.MULTILINE)


def directory_of(git: GitProcess) -> Path:
    """Returns git's directory, which is elsewhere if `.git` is the file of a submodule or linked work tree."""
    if is_directory(str(git.directory)):
        return git.directory
    return Path(os.fsdecode(git.must("rev-parse", "--absolute-git-dir").rstrip(b"\n")))


def make_ready(git: GitProcess, warn: Callable[[str], None] = lambda _: None) -> None:
    """Makes `<root>/.git` a repository with a readable HEAD and index. What is beyond repair is moved aside."""
    if not exists(str(git.directory)):  # an error if that cannot be told, or a second one would be started (P6)
        _begin(git, warn)
    if is_directory(str(git.directory)):
        # Stale locks are removed; a living one is waited for briefly, after which git itself says what is locked.
        ends_at = time.monotonic() + _LOCK_WAIT_SECONDS
        with as_store_io("unlock", str(git.directory)):
            while not remove_stale_locks(git.root, git.directory) and time.monotonic() < ends_at:
                time.sleep(0.1)
    problem = _problem(git)
    if problem is not None and is_directory(str(git.directory)):
        as_result(git.init)()  # the next check shows whether it helped
        problem = _problem(git)
    if problem is not None:
        aside = git.root / f".git.broken-{_stamp()}"
        said = f"The git history of the memories could not be read ({problem})."
        warn(f"{said} It was moved to {aside}, and a new one was started.")
        _move_aside(git.directory, aside)
        _begin(git, warn)
        return
    # This reads all of the index, silently. A damaged one is moved aside and rebuilt from HEAD.
    read = git.run("ls-files", "--cached", "-z", "--", ".git")
    index = git.directory / "index"
    if not read.ok:
        if not exists(str(index)):
            raise failed(("ls-files",), read)
        _move_aside(index, git.directory / f"index.broken-{_stamp()}")
        if git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
            git.must("read-tree", "HEAD")


def _begin(git: GitProcess, warn: Callable[[str], None]) -> None:
    outer = next((parent for parent in git.root.parents if os.path.lexists(parent / ".git")), None)
    if outer is not None:
        warn(
            f"The store {git.root} is inside the repository {outer}, and has a repository of its own. "
            "Add its directory to the .gitignore of the outer one."
        )
    with as_store_io("create", str(git.directory)):
        make_directories(str(git.root))
        path = git.root / IGNORE_FILE
        if not os.path.lexists(path):
            create_file(str(path), IGNORE_TEXT.encode())
    git.init()


# -- repairs: nothing, `git init` (restores HEAD and config), a new index, a new repository --------------------------


def _problem(git: GitProcess) -> str | None:
    """Returns what is wrong with the repository and its HEAD, or None. A HEAD without a commit yet is fine."""
    if git.run("rev-parse", "--quiet", "--verify", "HEAD^{tree}").ok:
        return None
    known = git.run("rev-parse", "--git-dir")
    if not known.ok:
        return known.stderr.strip() or "not a repository"
    branch = git.run("symbolic-ref", "--quiet", "HEAD")
    if branch.ok and branch.text and not exists(str(git.directory / branch.text)):
        refs = git.run("for-each-ref", branch.text)
        if refs.ok and not refs.stdout:
            return None
    return "the newest commit cannot be read"


def _move_aside(source: Path, target: Path) -> None:
    with as_store_io("move aside", str(source)):
        move_file(str(source), str(target))


def _stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{os.urandom(3).hex()}"


# -- locks ------------------------------------------------------------------------------------------------------------


def lock_files(git_directory: Path) -> tuple[Path, ...]:
    """Returns every lock file of a repository; raises an error if it cannot be searched (P6)."""
    found = [f"{git_directory}/{name}" for name in names_in(str(git_directory))]
    for start in ("refs", "objects/info"):
        found += files_below(f"{git_directory}/{start}")
    return tuple(Path(path) for path in found if path.endswith(".lock"))


def stale_locks(root: Path, git_directory: Path) -> tuple[Path, ...]:
    """Returns the locks that belong to nobody: all or none, since a running git may have created any of them. Raises an
    error (maybe an OSError) if a process that may be such a git could not be examined (P6)."""
    locks = lock_files(git_directory)
    limit_seconds = 2.0  # from this age on a lock is stale if no git is running
    if locks and not os.path.isdir("/proc/self"):
        limit_seconds = 120.0  # the running processes cannot be listed
    elif locks:
        real = os.path.realpath(root)
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it ended, or is someone else's
                command = Path(f"/proc/{name}/comm").read_text("utf-8", "replace")
                # Git changes into its work tree.
                if command.startswith("git") and f"{os.readlink(f'/proc/{name}/cwd')}/".startswith(f"{real}/"):
                    return ()
    for path in locks:
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime < limit_seconds:
                return ()
    return locks


def remove_stale_locks(root: Path, git_directory: Path) -> bool:
    """Removes stale locks; returns True if no lock is left. Raises as `stale_locks`."""
    stale = stale_locks(root, git_directory)
    for path in stale:
        path.unlink(missing_ok=True)
    return bool(stale) or not lock_files(git_directory)


@as_result
def pack_history(root: Path, environ: Mapping[str, str]) -> None:
    """Packs the objects of `<root>/.git` if there are many or large loose ones, since our commits switch off git's own
    maintenance; does nothing without a repository. The caller holds the write lock."""
    if not is_directory(str(root / ".git")):
        return
    git = GitProcess(root, environ)
    found = _LOOSE_SIZE.search(git.run("count-objects", "-v").stdout)
    # From 128 MiB on they are packed as well: each commit of a large store leaves a list of all its names.
    is_large = found is not None and int(found[1]) >= (128 << 10)
    arguments = ("gc", *(() if is_large else ("--auto",)), "--quiet")
    output = git.run(*arguments, config=(f"gc.auto={LOOSE_OBJECTS}", "gc.autoDetach=false"))
    if not output.ok:
        raise failed(arguments, output)
