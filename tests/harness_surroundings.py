"""What harnesses' sources and finders are built from, for tests: a home, and commands that answer as they are told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from returns.result import Result

from agent_memory.agent.child_process import Finished
from agent_memory.errors import Error, StoreIo
from agent_memory.harness import Surroundings
from agent_memory.harness.transcripts import Sessions
from agent_memory.note.note import Harness
from agent_memory.results import as_result
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import Context, InboxEntry, SessionFile, retrieval_of


def surroundings(home: Path | str, *roots: str, **environ: str) -> Surroundings:
    """A home in which no command is to be found, and these further transcript roots."""
    known = {"HOME": str(home), "PATH": "/nowhere"}
    return Surroundings(known | environ, str(home), Path(home) / "m", roots)


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


def session_entry(harness: Harness, session_id: str, path: Path | None = None, cwd: Path | None = None) -> InboxEntry:
    how = retrieval_of(harness, session_id, None if path is None else str(path))
    return InboxEntry(0, harness, how, Context(cwd=None if cwd is None else str(cwd)))


def fetch_from(source: Sessions, entry: InboxEntry, mark: SessionMark | None = None) -> Result[History, Error]:
    """What the sessions of a harness tell of the one in an entry."""
    how = entry.retrieval
    path = how.session_path if isinstance(how, SessionFile) else None
    fetched: Result[History, Error] = as_result(source.history)(
        entry.retrieval.session_id or "", path, entry.context.cwd, mark
    )
    return fetched


class Talk:
    """One session of a harness that keeps a JSON object a line, as that harness writes it. In the directory of the test, unless
    another is named."""

    harness: ClassVar[Harness]
    source: ClassVar[type[Sessions]]
    file_name: ClassVar[str]

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.lines: list[bytes] = []

    def put(self, value: object) -> None:
        self.lines.append(json.dumps(value).encode())

    @property
    def data(self) -> bytes:
        """The whole file."""
        return b"\n".join((*self.lines, b""))

    def write(self, directory: Path | None = None, name: str = "", end: bytes = b"\n") -> Path:
        path = (directory or Path.cwd()) / (name or self.file_name.format(id=self.session_id))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(self.lines) + end)
        return path

    @classmethod
    def entry_at(cls, path: Path | None, session_id: str) -> InboxEntry:
        return session_entry(cls.harness, session_id, path)

    @classmethod
    def fetched(cls, path: Path, session_id: str, mark: SessionMark | None = None) -> Result[History, Error]:
        return fetch_from(cls.source((str(path.parent),)), cls.entry_at(path, session_id), mark)

    def history(self, mark: SessionMark | None = None) -> History:
        history: History = self.fetched(self.write(), self.session_id, mark).unwrap()
        return history

    def failure(self) -> Error:
        error: Error = self.fetched(self.write(), self.session_id).failure()
        return error

    def told(self) -> list[str]:
        return told(self.history())


def told(history: History) -> list[str]:
    """`role: text` of each turn."""
    return [f"{turn.role}: {turn.text}" for turn in history.turns]


def numbers(history: History) -> Sequence[int]:
    return [turn.number for turn in history.turns]


def mark_after(history: History) -> SessionMark:
    """The mark that a consolidation of this history sets."""
    last, answered = history.turns[-1], history.tools_answered_before
    whose = (history.harness, history.session_id)
    return SessionMark(*whose, last.record_id, last.at_ms, last.number, answered, "builtin")
