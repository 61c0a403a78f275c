"""The store's own repository: made on the first record, mended when broken, never deleted (P4)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import create_file, make_directories, move_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_directory, is_there
from agent_memory.adapters.git.git_locks import remove_stale_locks
from agent_memory.adapters.git.git_process import GitOutput, GitProcess, failed
from agent_memory.adapters.git.purge_swap import finish_swap
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, IGNORE_TEXT
from agent_memory.errors import Error
from agent_memory.results import sealed

_LOCK_WAIT_SECONDS = 3.0
"""Longer than a lock takes to become stale, so that a run directly after a crash mends it."""

_LOCK_POLL_SECONDS = 0.1


class GitRepository:
    """`<root>/.git`, fit for use after `ready`."""

    def __init__(self, git: GitProcess, now_seconds: Callable[[], float], warn: Callable[[str], None]) -> None:
        self._git = git
        self._now_seconds = now_seconds
        self._warn = warn
        self._directory = git.root / ".git"

    def exists(self) -> Result[bool, Error]:
        """Whether there is one. That nobody can look is an error: else a second one would be begun (P6)."""
        return is_there(str(self._directory))

    def directory(self) -> Result[Path, Error]:
        """Where git keeps the repository: elsewhere when `.git` is the file of a submodule or linked work tree."""

        def named() -> Result[Path, Error]:
            told = self._git.must("rev-parse", "--absolute-git-dir")
            return told.map(lambda stdout: Path(os.fsdecode(stdout.rstrip(b"\n"))))

        return is_directory(str(self._directory)).bind(lambda is_here: Success(self._directory) if is_here else named())

    def ready(self) -> Result[None, Error]:
        """A repository whose HEAD and index can be read. What cannot be mended is moved aside and begun afresh."""
        known = self.exists().bind(lambda is_here: Success(True) if is_here else self._came_back())
        made = known.bind(lambda is_here: Success(None) if is_here else self._begin())
        return made.bind(lambda _: self._without_stale_locks()).bind(lambda _: self._mended())

    def _came_back(self) -> Result[bool, Error]:
        """Whether it was only away: a purge was cut short between its two renames. Where that cannot be told, or finished,
        it is an error: a repository that was begun meanwhile would keep it away for ever (P6)."""
        try:
            return Success(finish_swap(self._git.root))
        except OSError as error:
            return Failure(store_io(error, "finish the exchange of", str(self._directory)))

    def _begin(self) -> Result[None, Error]:
        outer = _repository_around(self._git.root)
        if outer is not None:
            self._warn(
                f"The memories in {self._git.root} lie inside the repository {outer}; they are recorded in a repository of "
                "their own. Add that directory to the outer repository's .gitignore."
            )
        try:
            make_directories(str(self._git.root))
            self._write_ignore_file()
        except OSError as error:
            return Failure(store_io(error, "create", str(self._directory)))
        return self._init()

    def _write_ignore_file(self) -> None:
        path = self._git.root / IGNORE_FILE
        if not os.path.lexists(path):
            create_file(str(path), IGNORE_TEXT.encode())

    def _init(self) -> Result[None, Error]:
        def checked(output: GitOutput) -> Result[None, Error]:
            return Success(None) if output.ok else Failure(failed(("init",), output))

        return self._git.init().bind(checked)

    # -- mending ------------------------------------------------------------------------------------------------------

    def _mended(self) -> Result[None, Error]:
        """The cheapest remedy that helps, in order: nothing, `git init` (restores HEAD and config), a new index, a new
        repository."""
        match sealed(self._problem()):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return self._mended_index()
            case Success(_):
                return self._init_over().bind(
                    lambda problem: self._begin_afresh(problem) if problem else self._mended_index()
                )

    def _init_over(self) -> Result[str | None, Error]:
        """What is still wrong after `git init` over the damaged directory."""

        def tried() -> Result[str | None, Error]:
            return self._git.init().bind(lambda _: self._problem())

        there = is_directory(str(self._directory))
        return there.bind(lambda is_here: tried() if is_here else Success("it is no directory"))

    def _problem(self) -> Result[str | None, Error]:
        """What is wrong with the repository and its HEAD, or None. A HEAD without a commit yet is no problem."""

        def checked(output: GitOutput) -> Result[str | None, Error]:
            if output.ok:
                return Success(None)
            return self._git.run("rev-parse", "--git-dir").bind(
                lambda known: self._unborn() if known.ok else Success(known.stderr.strip() or "not a repository")
            )

        return self._git.run("rev-parse", "--quiet", "--verify", "HEAD^{tree}").bind(checked)

    def _unborn(self) -> Result[str | None, Error]:
        """None where HEAD names a branch that has no commit; otherwise the commit cannot be read."""
        unreadable = "the newest commit cannot be read"

        def listed(branch: str) -> Result[str | None, Error]:
            return self._git.run("for-each-ref", branch).map(
                lambda refs: None if refs.ok and not refs.stdout else unreadable
            )

        def checked(output: GitOutput) -> Result[str | None, Error]:
            branch = output.stdout.decode("utf-8", "replace").strip()
            if not output.ok or not branch:
                return Success(unreadable)
            return is_there(str(self._directory / branch)).bind(
                lambda has_file: Success(unreadable) if has_file else listed(branch)
            )

        return self._git.run("symbolic-ref", "--quiet", "HEAD").bind(checked)

    def _mended_index(self) -> Result[None, Error]:
        """A readable index; a damaged one is moved aside and made anew from HEAD."""

        def checked(output: GitOutput) -> Result[None, Error]:
            if output.ok:
                return Success(None)
            index = self._directory / "index"
            if is_there(str(index)) != Success(True):
                return Failure(failed(("ls-files",), output))
            return self._moved_aside(index, self._directory / f"index.broken-{self._stamp()}").bind(
                lambda _: self._filled_index()
            )

        # All of it is read for that, and none of it told.
        return self._git.run("ls-files", "--cached", "-z", "--", ".git").bind(checked)

    def _filled_index(self) -> Result[None, Error]:
        head = self._git.run("rev-parse", "--quiet", "--verify", "HEAD")
        return head.bind(
            lambda known: self._git.must("read-tree", "HEAD").map(lambda _: None) if known.ok else Success(None)
        )

    def _begin_afresh(self, problem: str) -> Result[None, Error]:
        aside = self._git.root / f".git.broken-{self._stamp()}"
        self._warn(
            f"The git history of the memories could not be read ({problem}). It was moved to {aside}; a new one begins."
        )
        return self._moved_aside(self._directory, aside).bind(lambda _: self._begin())

    def _moved_aside(self, source: Path, target: Path) -> Result[None, Error]:
        try:
            move_file(str(source), str(target))
        except OSError as error:
            return Failure(store_io(error, "move aside", str(source)))
        return Success(None)

    def _stamp(self) -> str:
        return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._now_seconds())) + f"-{os.urandom(3).hex()}"

    # -- locks --------------------------------------------------------------------------------------------------------

    def _without_stale_locks(self) -> Result[None, Error]:
        """Stale locks are removed; a living one is waited for, for a moment: then git itself says what is locked."""
        is_here = is_directory(str(self._directory))
        if is_here != Success(True):
            return is_here.map(lambda _: None)
        ends_at = time.monotonic() + _LOCK_WAIT_SECONDS
        try:
            while not remove_stale_locks(self._git.root, self._directory) and time.monotonic() < ends_at:
                time.sleep(_LOCK_POLL_SECONDS)
        except OSError as error:
            return Failure(store_io(error, "unlock", str(self._directory)))
        return Success(None)


def _repository_around(root: Path) -> Path | None:
    """The nearest directory above the root that has a `.git`."""
    return next((parent for parent in root.parents if os.path.lexists(parent / ".git")), None)
