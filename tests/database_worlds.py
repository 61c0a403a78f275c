"""Worlds for the contract of histories: harnesses that keep their sessions in databases."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.harness.cursor import CursorSessions
from agent_memory.adapters.harness.goose import GooseSessions
from agent_memory.adapters.harness.opencode import OpencodeSessions
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import HistorySource
from cursor_conversations import SESSION as CONVERSATION, sample_composer, sample_transcript
from goose_sessions import SESSION as GOOSE, sample as goose_sample
from harness_surroundings import NOT_FOUND, ScriptedCommand
from opencode_sessions import SESSION as OPENCODE, sample as opencode_sample

GARBAGE = b"no database " * 100


class _World:
    inseparable: tuple[int, ...] = ()
    """After how many turns a session cannot end: a call and its answer may be one record."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._roots = TranscriptRoots((str(directory),))
        self._make()

    source: HistorySource
    entry: InboxEntry

    def _make(self) -> None:
        raise NotImplementedError


class GooseRowsWorld(_World):
    def _make(self) -> None:
        self.source = GooseSessions(self._roots)
        self.entry = InboxEntry(0, Harness.GOOSE, SessionFile("goose-session", GOOSE))

    def hold(self, count: int) -> None:
        talk = goose_sample()
        del talk.messages[count:]
        talk.write_rows(self._directory)

    def corrupt(self) -> None:
        (self._directory / "sessions.db").write_bytes(GARBAGE)


class OpencodeRowsWorld(_World):
    inseparable = (2,)

    def _make(self) -> None:
        self.source = OpencodeSessions(self._roots, ScriptedCommand(NOT_FOUND))
        self.entry = InboxEntry(0, Harness.OPENCODE, SessionFile("opencode-session", OPENCODE))

    def hold(self, count: int) -> None:
        opencode_sample(count).write_rows(self._directory)

    def corrupt(self) -> None:
        (self._directory / "opencode.db").write_bytes(GARBAGE)


class CursorLinesWorld(_World):
    def _make(self) -> None:
        self.source = CursorSessions(self._roots)
        self.entry = InboxEntry(0, Harness.CURSOR, SessionFile("cursor-session", CONVERSATION))

    def hold(self, count: int) -> None:
        talk = sample_transcript()
        del talk.lines[count:]
        self._path = talk.write(self._directory)

    def corrupt(self) -> None:
        self._path.write_bytes(GARBAGE)


class CursorStoreWorld(CursorLinesWorld):
    inseparable = (2,)

    def hold(self, count: int) -> None:
        self._path = sample_composer(count).write(self._directory)


DATABASE_WORLDS = (CursorLinesWorld, CursorStoreWorld, GooseRowsWorld, OpencodeRowsWorld)
