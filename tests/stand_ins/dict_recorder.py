"""A recorder in memory, for tests and for programs that keep no history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, PathRefused
from agent_memory.rules.commit_message import (
    commit_message,
    hand_edit_words,
    holds_secret,
    is_bookkeeping,
    is_ignored,
    path_problem,
    wanted_of,
)

OURSELVES = "agent-memory"
PERSON = "person"


@frozen
class Recorded:
    """One commit, as the recorder in memory keeps it."""

    author: str
    paths: tuple[str, ...]
    message: str
    thread_id: str | None = None


class DictRecorder:
    """`Recorder` over a mapping of paths to bytes that someone else changes. Without one, every path that is told of
    counts as changed."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.commits: list[Recorded] = []
        """Oldest first."""
        self._files = files
        self._last: dict[str, bytes] = {}
        self._warnings: list[str] = []

    def warnings(self) -> tuple[str, ...]:
        """What the person should know, as whole sentences: each once."""
        return tuple(self._warnings)

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        wanted = [path for path in self._changed() if among is None or path in among]
        paths = self._without_secrets([path for path in wanted if not is_bookkeeping(path)])
        if paths:
            self._commit(PERSON, paths, commit_message(*hand_edit_words(paths)), None)
        return Success(len(paths))

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        for path in paths:
            if problem := path_problem(path):
                return Failure(PathRefused(path, problem))
        changed = self._changed() if self._files is not None else tuple(paths)
        wanted = self._without_secrets(wanted_of(changed, paths))
        if wanted:
            along = [path for path in changed if is_bookkeeping(path)]
            together = tuple(dict.fromkeys((*wanted, *self._without_secrets(along))))
            self._commit(OURSELVES, together, commit_message(subject, body), thread_id)
        return Success(None)

    def _changed(self) -> tuple[str, ...]:
        files = self._files or {}
        every = sorted({*files, *self._last})
        return tuple(path for path in every if files.get(path) != self._last.get(path) and not is_ignored(path))

    def _without_secrets(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if self._may_be_recorded(path))

    def _may_be_recorded(self, path: str) -> bool:
        if not holds_secret(path, (self._files or {}).get(path, b"").decode("utf-8", "replace")):
            return True
        warning = f"{path} was left out of the history: it seems to hold a secret."
        if warning not in self._warnings:
            self._warnings.append(warning)
        return False

    def _commit(self, author: str, paths: tuple[str, ...], message: str, thread_id: str | None) -> None:
        for path in paths:
            content = (self._files or {}).get(path)
            if content is None:
                self._last.pop(path, None)
            else:
                self._last[path] = content
        self.commits.append(Recorded(author, tuple(sorted(paths)), message, thread_id))
