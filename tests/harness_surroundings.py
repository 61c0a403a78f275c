"""What harnesses' sources and finders are built from, for tests: a home, and commands that answer as they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from returns.result import Result

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, StoreIo
from agent_memory.harness import Surroundings
from agent_memory.harness.transcripts import TranscriptRoots
from agent_memory.note.vocabulary import Harness
from agent_memory.ports import HistorySource
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import InboxEntry, SessionFile, SessionMethod

NOT_FOUND = StoreIo("program", "start", "ENOENT", "No such file or directory")


def surroundings(home: Path | str, *roots: str, **environ: str) -> Surroundings:
    """A home in which no command is to be found, and these further transcript roots."""
    known = {"HOME": str(home), "PATH": "/nowhere"}
    return Surroundings(known | environ, str(home), Path(home) / "m", lambda _: None, roots)


def finished(
    stdout: bytes = b"", status: int = 0, stderr: bytes = b"", *, late: bool = False, capped: bool = False
) -> Finished:
    """How a command ended."""
    return Finished(status, stdout, stderr, late, capped, True)


class ScriptedCommand:
    """Answers each call with the next outcome, the last one again and again."""

    def __init__(self, *outcomes: Finished | StoreIo) -> None:
        self._outcomes = list(outcomes)
        self.calls: list[tuple[str, ...]] = []

    def __call__(self, argv: Sequence[str]) -> Finished:
        self.calls.append(tuple(argv))
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, StoreIo):
            raise outcome
        return outcome


class SessionReading:
    """How the tests of one harness read a transcript: `source` is made from the roots that the transcript is in."""

    def __init__(
        self,
        harness: Harness,
        method: SessionMethod,
        source: Callable[[TranscriptRoots], HistorySource],
        session_id: str,
        at_ms: int = 0,
    ) -> None:
        self._harness = harness
        self._method: SessionMethod = method
        self._source = source
        self._session_id = session_id
        self._at_ms = at_ms

    def entry(self, path: Path | None, session_id: str = "") -> InboxEntry:
        retrieval = SessionFile(self._method, session_id or self._session_id, str(path) if path else None)
        return InboxEntry(self._at_ms, self._harness, retrieval)

    def history(self, path: Path, mark: SessionMark | None = None, session_id: str = "") -> History:
        history: History = self._fetch(path, mark, session_id).unwrap()
        return history

    def failure(self, path: Path, session_id: str = "") -> Error:
        error: Error = self._fetch(path, None, session_id).failure()
        return error

    def _fetch(self, path: Path, mark: SessionMark | None, session_id: str) -> Result[History, Error]:
        return self._source(TranscriptRoots((str(path.parent),))).fetch(self.entry(path, session_id), mark)
