"""`Recorder` over git: one commit for each finished write, in a repository that is the store's alone (P4).

The caller holds the store's write lock, so that two of ours never meet in one repository.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.paths import is_directory
from agent_memory.adapters.git.git_commits import MANY_PATHS, GitCommits
from agent_memory.adapters.git.git_process import OURSELVES, GitProcess, Identity
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.surroundings.system_clock import SystemClock
from agent_memory.config import StorageConfig
from agent_memory.domain.recording.command_template import filled, parse_command_template
from agent_memory.domain.recording.commit_message import commit_message
from agent_memory.domain.recording.recorded_paths import (
    BOOKKEEPING,
    IGNORE_FILE,
    IGNORE_TEXT,
    hand_edit_words,
    holds_secret,
    is_bookkeeping,
    is_ignored,
    path_problem,
    wanted_of,
)
from agent_memory.errors import ConfigInvalid, Error, PathRefused
from agent_memory.ports import Clock
from agent_memory.results import sealed

_CHECKED_BYTES = 16 * 2**20
"""Larger files are not read for secrets, and so are not recorded."""
_LEFT_ALONE = frozenset({b"AD", b"DD", b"AU", b"UD", b"UA", b"DU", b"AA", b"UU"})
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
_SPELLINGS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


class GitRecorder:
    """`Recorder` in `<root>/.git`. With `autoCommit: false` every call succeeds and does nothing."""

    def __init__(
        self,
        root: Path,
        config: StorageConfig,
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
    ) -> None:
        self._root = root
        self._config = config
        self._environ = environ
        self._warnings: list[str] = []
        self._git = GitProcess(root, environ)
        now_ms = (clock or SystemClock()).now_ms
        self._repository = GitRepository(self._git, lambda: now_ms() / 1000, self._warn)
        self._commits = GitCommits(self._git, self._repository, environ)

    def warnings(self) -> tuple[str, ...]:
        """What the person should know, as whole sentences, since this recorder was made: each once."""
        return tuple(self._warnings)

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """See the port. A file that holds a secret stays uncommitted, and `warnings` names it."""
        if not self._config.auto_commit:
            return Success(0)
        is_there = is_directory(str(self._root))
        if isinstance(is_there, Failure):
            return is_there
        if not is_there.unwrap():
            return Success(0)
        has_anything = self._has_anything()
        if has_anything != Success(True):
            return has_anything.map(lambda _: 0)

        def adopted(changed: tuple[str, ...]) -> Result[int, Error]:
            wanted = changed if among is None else tuple(path for path in changed if path in among)
            paths = self._without_secrets([path for path in wanted if not self._is_ours(path)])
            if not paths:
                return Success(0)
            subject, body = hand_edit_words(paths)
            author = person(self._environ)
            return self._commits.commit(paths, commit_message(subject, body), (), author).map(lambda _: len(paths))

        return self._repository.ready().bind(lambda _: self._changed(among)).bind(adopted)

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        """See the port. What is unchanged, ignored or holds a secret is left out; with nothing left there is no commit."""
        if not self._config.auto_commit:
            return Success(None)
        for path in paths:
            if problem := path_problem(path):
                return Failure(PathRefused(path, problem))

        def recorded(options: tuple[str, ...]) -> Result[None, Error]:
            return (
                self._repository.ready()
                .bind(lambda _: self._changed((*paths, *BOOKKEEPING, IGNORE_FILE)))
                .bind(lambda changed: committed(changed, options))
            )

        def committed(changed: tuple[str, ...], options: tuple[str, ...]) -> Result[None, Error]:
            wanted = self._without_secrets(wanted_of(changed, paths))
            if not wanted:
                return Success(None)
            along = [path for path in changed if self._is_ours(path)]
            together = tuple(dict.fromkeys((*wanted, *self._without_secrets(along))))
            return self._commits.commit(together, commit_message(subject, body), options, OURSELVES)

        return self._options(thread_id, harness).bind(recorded)

    # -- what -----------------------------------------------------------------------------------------------------------

    def _has_anything(self) -> Result[bool, Error]:
        """False for a store where nobody has written a note yet: no repository is made for it."""

        def is_note(name: str) -> bool:
            return not is_ignored(name) and not is_bookkeeping(name)

        return listed_names(str(self._root), is_note).bind(
            lambda names: Success(True) if names else self._repository.exists()
        )

    def _changed(self, among: Sequence[str] | None) -> Result[tuple[str, ...], Error]:
        """Paths that differ from HEAD and are not ignored, gone ones included, in git's order: at least those `among` these."""
        asked = self._git.must(*_STATUS) if among is None or len(among) > MANY_PATHS else self._status_of(among)
        return asked.map(
            lambda stdout: tuple(filter(self._counts, map(_status_path, filter(None, stdout.split(b"\0")))))
        )

    def _status_of(self, paths: Sequence[str]) -> Result[bytes, Error]:
        """What git says of these, however the file system spells them; of all where it refuses to look at one of them."""
        spelled = dict.fromkeys((*paths, *(normalize(form, path) for form in _SPELLINGS for path in paths)))
        return self._git.must(*_STATUS, "--", *spelled).lash(lambda _: self._git.must(*_STATUS))

    def _counts(self, path: str) -> bool:
        """False for what is left alone, for a repository inside the store (a trailing slash), and for what is ignored."""
        return bool(path) and not path.endswith("/") and not is_ignored(path)

    def _is_ours(self, path: str) -> bool:
        """True for what nobody but us has written, and so rides along with our commits."""
        return is_bookkeeping(path) or (path == IGNORE_FILE and self._text_of(path) == IGNORE_TEXT)

    def _without_secrets(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if self._may_be_recorded(path))

    def _may_be_recorded(self, path: str) -> bool:
        text = self._text_of(path)
        if text is None:
            self._warn(
                f"{path} was left out of the history: it cannot be read, or is larger than {_CHECKED_BYTES // 2**20} MiB."
            )
            return False
        if holds_secret(path, text):
            self._warn(
                f"{path} was left out of the history: it seems to hold a secret. Remove it, or commit the file yourself."
            )
            return False
        return True

    def _text_of(self, path: str) -> str | None:
        """The text that git would store, empty for a path that is gone; None where it cannot be checked."""
        whole = self._root / path
        try:
            status = os.lstat(whole)
            if stat.S_ISLNK(status.st_mode):
                return os.readlink(whole)
            if status.st_size > _CHECKED_BYTES:
                return None
            return whole.read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError:
            return None

    # -- how ------------------------------------------------------------------------------------------------------------

    def _options(self, thread_id: str | None, harness: str | None) -> Result[tuple[str, ...], Error]:
        match sealed(parse_command_template(self._config.commit_hook)):
            case Success(template):
                return Success(filled(template, {"threadId": thread_id, "harness": harness}))
            case Failure(problem):
                return Failure(ConfigInvalid("(effective)", (f"storage.commitHook: {problem}",)))

    def _warn(self, sentence: str) -> None:
        shown = sentence.encode("utf-8", "replace").decode()
        if shown not in self._warnings:
            self._warnings.append(shown)


def _status_path(record: bytes) -> str:
    """The path of one record of `status --porcelain=v1 -z`. Empty for one staged as new and gone again, and for one in
    conflict: adding it would tell git that the person has resolved it."""
    return "" if record[:2] in _LEFT_ALONE else os.fsdecode(record[3:])


_TIMEOUT_SECONDS = 5.0
_REFUSED = re.compile(r"[\x00-\x1f\x7f<>]")


def person(environ: Mapping[str, str]) -> Identity:
    """Name and address of the person's global git configuration; else the login name, at localhost."""
    login = _login(environ)
    name = _configured("user.name", environ) or login
    return Identity(name, _configured("user.email", environ) or f"{login}@localhost")


def _login(environ: Mapping[str, str]) -> str:
    for variable in ("USER", "LOGNAME"):
        if name := _clean(environ.get(variable, "")):
            return name
    try:
        return _clean(getpass.getuser()) or "person"
    except (OSError, KeyError):
        return "person"


def _configured(key: str, environ: Mapping[str, str]) -> str:
    program = shutil.which("git", path=environ.get("PATH", os.defpath))
    if program is None:
        return ""
    scrubbed = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        asked = subprocess.run(
            [program, "config", "--global", "--includes", "--get", key],
            env=scrubbed,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return _clean(asked.stdout.decode("utf-8", "replace")) if asked.returncode == 0 else ""


def _clean(value: str) -> str:
    return _REFUSED.sub("", value).strip(" .,:;\"'")
