"""The store's own repository: made on the first record, mended when broken, kept small, never deleted (P4).

Git's locks are plain files, so a killed git leaves them for ever. Ours never overlap (the store's write lock is held around
every record); a lock belongs to a person's git, or to nobody.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from agent_memory.adapters.disk.durable import create_file, make_directories, move_file
from agent_memory.adapters.disk.paths import as_store_io, exists, is_directory
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, IGNORE_TEXT
from agent_memory.results import as_result

STALE_SECONDS = 2.0
"""Age of a lock that no git works behind."""
STALE_UNSEEN_SECONDS = 120.0
"""The same where it cannot be seen which processes run."""
_LOCK_WAIT_SECONDS = 3.0
"""Longer than a lock takes to become stale, so that a run directly after a crash mends it."""
_LOCK_POLL_SECONDS = 0.1

LOOSE_OBJECTS = 2_000
"""From about here on loose objects are packed: some months of daily work."""
LOOSE_KIB = 128 << 10
"""From here on, too: each commit of a large store leaves a list of all its names."""
_LOOSE_SIZE = re.compile(rb"^size: ([0-9]{1,15})$", re.MULTILINE)


class GitRepository:
    """`<root>/.git`, fit for use after `ready`."""

    def __init__(self, git: GitProcess, warn: Callable[[str], None] = lambda _: None) -> None:
        self._git = git
        self._warn = warn
        self._directory = git.root / ".git"

    def exists(self) -> bool:
        """Whether there is one. That nobody can look is an error: else a second one would be begun (P6)."""
        return exists(str(self._directory))

    def directory(self) -> Path:
        """Where git keeps the repository: elsewhere when `.git` is the file of a submodule or linked work tree."""
        if is_directory(str(self._directory)):
            return self._directory
        return Path(os.fsdecode(self._git.must("rev-parse", "--absolute-git-dir").rstrip(b"\n")))

    def ready(self) -> None:
        """Make it a repository whose HEAD and index can be read. What cannot be mended is moved aside and begun afresh."""
        if not self.exists():
            self._begin()
        if is_directory(str(self._directory)):
            # Stale locks are removed; a living one is waited for, for a moment: then git itself says what is locked.
            ends_at = time.monotonic() + _LOCK_WAIT_SECONDS
            with as_store_io("unlock", str(self._directory)):
                while not remove_stale_locks(self._git.root, self._directory) and time.monotonic() < ends_at:
                    time.sleep(_LOCK_POLL_SECONDS)
        problem = self._problem()
        if problem is not None and is_directory(str(self._directory)):
            as_result(self._git.init)()  # whether it helped is what is asked next
            problem = self._problem()
        if problem is not None:
            aside = self._git.root / f".git.broken-{_stamp()}"
            said = f"The git history of the memories could not be read ({problem})."
            self._warn(f"{said} It was moved to {aside}; a new one begins.")
            _move_aside(self._directory, aside)
            self._begin()
            return
        # All of the index is read for that, and none of it told. A damaged one is moved aside and made anew from HEAD.
        read = self._git.run("ls-files", "--cached", "-z", "--", ".git")
        index = self._directory / "index"
        if not read.ok:
            if not exists(str(index)):
                raise failed(("ls-files",), read)
            _move_aside(index, self._directory / f"index.broken-{_stamp()}")
            if self._git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
                self._git.must("read-tree", "HEAD")

    def _begin(self) -> None:
        outer = next((parent for parent in self._git.root.parents if os.path.lexists(parent / ".git")), None)
        if outer is not None:
            self._warn(
                f"The memories in {self._git.root} lie inside the repository {outer}; they are recorded in a repository of "
                "their own. Add that directory to the outer repository's .gitignore."
            )
        with as_store_io("create", str(self._directory)):
            make_directories(str(self._git.root))
            path = self._git.root / IGNORE_FILE
            if not os.path.lexists(path):
                create_file(str(path), IGNORE_TEXT.encode())
        self._git.init()

    # -- mending: nothing, `git init` (restores HEAD and config), a new index, a new repository --------------------------

    def _problem(self) -> str | None:
        """What is wrong with the repository and its HEAD, or None. A HEAD without a commit yet is no problem."""
        if self._git.run("rev-parse", "--quiet", "--verify", "HEAD^{tree}").ok:
            return None
        known = self._git.run("rev-parse", "--git-dir")
        if not known.ok:
            return known.stderr.strip() or "not a repository"
        branch = self._git.run("symbolic-ref", "--quiet", "HEAD")
        if branch.ok and branch.text and not exists(str(self._directory / branch.text)):
            refs = self._git.run("for-each-ref", branch.text)
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
    """Every lock file of a repository. Raises OSError where that cannot be looked through: it is never taken for free (P6),
    as the globs of `pathlib` do where permission is denied."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    found: list[str] = []
    for start in ("", "refs", "objects/info"):
        for parent, below, names in os.walk(git_directory / start, onerror=refuse):
            found += [f"{parent}/{name}" for name in sorted(names) if name.endswith(".lock")]
            if not start:
                below.clear()
    return tuple(map(Path, found))


def stale_locks(root: Path, git_directory: Path) -> tuple[Path, ...]:
    """The locks that belong to nobody: all or none, since a git that works may have made any of them. Raises OSError, also
    where a process was not looked at that may be such a git (P6)."""
    locks = lock_files(git_directory)
    limit_seconds = STALE_SECONDS
    if locks and not os.path.isdir("/proc/self"):
        limit_seconds = STALE_UNSEEN_SECONDS
    elif locks:
        real = os.path.realpath(root)
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it ended, or is someone else's
                command = Path(f"/proc/{name}/comm").read_text("utf-8", "replace")
                # Git enters the work tree that it works on.
                if command.startswith("git") and f"{os.readlink(f'/proc/{name}/cwd')}/".startswith(f"{real}/"):
                    return ()
    for path in locks:
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime < limit_seconds:
                return ()
    return locks


def remove_stale_locks(root: Path, git_directory: Path) -> bool:
    """True when no lock is left: all that there were belonged to nobody and are gone. Raises OSError."""
    locks = lock_files(git_directory)
    if len(stale_locks(root, git_directory) if locks else ()) < len(locks):
        return False
    for path in locks:
        path.unlink(missing_ok=True)
    return True


# -- upkeep -----------------------------------------------------------------------------------------------------------


@as_result
def pack_history(root: Path, environ: Mapping[str, str]) -> None:
    """Pack the objects of `<root>/.git` where there are many or large loose ones, since our commits switch git's own upkeep
    off; nothing where there is no repository. The caller holds the write lock."""
    if not is_directory(str(root / ".git")):
        return
    git = GitProcess(root, environ)
    found = _LOOSE_SIZE.search(git.run("count-objects", "-v").stdout)
    is_large = found is not None and int(found[1]) >= LOOSE_KIB
    arguments = ("gc", *(() if is_large else ("--auto",)), "--quiet")
    output = git.run(*arguments, config=(f"gc.auto={LOOSE_OBJECTS}", "gc.autoDetach=false"))
    if not output.ok:
        raise failed(arguments, output)
