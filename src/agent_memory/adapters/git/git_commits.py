"""Commits of some paths as they are on disk, and of nothing else that is staged.

`git commit` looks at every file that it knows, and whether it has every object: with 50,000 notes a second and more for one
of them. So where nothing else is staged the paths are staged by name, and the commit is made of what the index then holds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import FILE_MODE
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.git.git_process import GitProcess, Identity
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.domain.recording.command_template import trailers_alone
from agent_memory.errors import Error

MANY_PATHS = 200
"""Git compares each file with each path that it is told to look for: from here on it had better look at all."""

_PATHS_A_CALL = 10_000

_PATHS_FILE = "agent-memory-paths"
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD")
"""What git leaves in its directory while a person is at something that the next commit would end."""
_SYNC_SECONDS = 20.0


class GitCommits:
    """Makes the commits of a repository that is fit for use."""

    def __init__(self, git: GitProcess, repository: GitRepository, environ: Mapping[str, str]) -> None:
        self._git = git
        self._repository = repository
        self._environ = environ

    def commit(
        self, paths: Sequence[str], message: str, options: Sequence[str], author: Identity
    ) -> Result[None, Error]:
        """One commit of these paths, with these options of `git commit`. What somebody else has staged stays staged."""

        def committed(directory: Path) -> Result[None, Error]:
            if not self._is_staged_alone(directory, paths):
                return self._commit_only(directory, paths, message, options, author)
            trailers = trailers_alone(options)
            if trailers is None:
                return self._commit(message, options, author)
            return self._commit_index(message, trailers, author)

        return self._repository.directory().bind(committed).map(lambda _: self._flush())

    # -- with nothing else staged ---------------------------------------------------------------------------------------

    def _is_staged_alone(self, directory: Path, paths: Sequence[str]) -> bool:
        """Whether these paths are staged now, and nothing else is."""
        if any(is_there(str(directory / name)) != Success(False) for name in _UNDER_WAY):
            return False  # also where that cannot be told (P6): `commit --only` ends nothing that a person is at
        before = self._git.run("diff", "--cached", "--quiet").map(lambda output: output.ok)
        portions = (paths[start : start + _PATHS_A_CALL] for start in range(0, len(paths), _PATHS_A_CALL))
        return before.value_or(False) and all(map(self._is_staged, portions))

    def _is_staged(self, paths: Sequence[str]) -> bool:
        listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
        # One flush for all the objects instead of one for each.
        config = ("core.fsyncMethod=batch",) if len(paths) >= MANY_PATHS else ()
        done = self._git.run("update-index", "--add", "--remove", "-z", "--stdin", input=listed, config=config)
        return done.map(lambda output: output.ok).value_or(False)

    def _commit_index(self, message: str, trailers: Sequence[str], author: Identity) -> Result[None, Error]:
        """What the index holds, upon HEAD; nothing where that holds the same already."""

        def made(head: Sequence[str], tree: str, said: bytes) -> Result[None, Error]:
            parent, tree_before = head or ("", "")
            if tree == tree_before:
                return Success(None)
            upon = ("-p", parent) if parent else ()
            subject = f"commit{'' if parent else ' (initial)'}: {message.partition(chr(10))[0]}"
            new = self._git.must("commit-tree", *upon, "-F", "-", tree, input=said, author=author).map(_word)
            return new.bind(lambda commit: self._git.must("update-ref", "-m", subject, "HEAD", commit, parent)).map(
                lambda _: None
            )

        return self._head().bind(
            lambda head: self._git.must("write-tree", "--missing-ok").bind(
                lambda tree: self._with_trailers(message, trailers).bind(lambda said: made(head, _word(tree), said))
            )
        )

    def _head(self) -> Result[Sequence[str], Error]:
        """The commit that HEAD is and its tree; nothing before the first."""
        return self._git.must("rev-parse", "--revs-only", "HEAD", "HEAD^{tree}").map(lambda told: told.decode().split())

    def _with_trailers(self, message: str, trailers: Sequence[str]) -> Result[bytes, Error]:
        said = message.encode("utf-8", "replace")
        if not trailers:
            return Success(said)
        arguments = (part for trailer in trailers for part in ("--trailer", trailer))
        return self._git.must("interpret-trailers", "--no-divider", *arguments, input=said)

    # -- beside what somebody has staged --------------------------------------------------------------------------------

    def _commit_only(
        self, directory: Path, paths: Sequence[str], message: str, options: Sequence[str], author: Identity
    ) -> Result[None, Error]:
        listed = directory / _PATHS_FILE
        only = (f"--pathspec-from-file={listed}", "--pathspec-file-nul")
        try:
            _write_list(listed, paths)
            return self._added(only).bind(lambda _: self._commit(message, (*options, "--only", *only), author))
        except OSError as error:
            return Failure(store_io(error, "write", str(listed)))
        finally:
            with suppress(OSError):  # the next commit overwrites it
                listed.unlink()

    def _added(self, only: tuple[str, ...]) -> Result[bytes, Error]:
        added = self._git.must("add", "--all", *only)
        # It knows no path that is staged as gone: by a person, or by a commit of ours that failed half way.
        return added.lash(
            lambda _: self._git.must("reset", "--quiet", *only).bind(lambda _: self._git.must("add", "--all", *only))
        )

    def _commit(self, message: str, options: Sequence[str], author: Identity) -> Result[None, Error]:
        said = message.encode("utf-8", "replace")
        arguments = ("commit", *options, "--quiet", "--no-verify", "--file=-")
        return self._git.must(*arguments, input=said, author=author).map(lambda _: None)

    # -- for good -------------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Ask the system to make the commit durable; `core.fsync` alone leaves the names of new files open."""
        program = shutil.which("sync", path=self._environ.get("PATH", os.defpath))
        if program is not None:
            try:
                subprocess.run(
                    [program, "-f", str(self._git.directory)], capture_output=True, timeout=_SYNC_SECONDS, check=False
                )
            except (OSError, subprocess.TimeoutExpired):
                return  # history, not durability: what the commit holds is on disk already


def _word(told: bytes) -> str:
    return told.decode().strip()


def _write_list(path: Path, paths: Sequence[str]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(b"".join(os.fsencode(each) + b"\0" for each in paths))
