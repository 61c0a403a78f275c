"""One module a harness: how to find its past sessions, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from agent_memory.capture.session_event import method_of
from agent_memory.harness.aider import AiderChats
from agent_memory.harness.amp import AmpThreads
from agent_memory.harness.captured_notes import FileSnapshots, InlineNotes
from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.codex import CodexSessions
from agent_memory.harness.copilot import CopilotSessions
from agent_memory.harness.cursor import CursorTranscripts
from agent_memory.harness.cursor_store import CursorSessions
from agent_memory.harness.gemini import GeminiSessions
from agent_memory.harness.goose import GooseSessions
from agent_memory.harness.opencode import OpencodeSessions
from agent_memory.harness.pi import PiSessions
from agent_memory.harness.transcripts import SessionFiles, Sessions, Surroundings as Surroundings
from agent_memory.note.note import Harness
from agent_memory.ports import HistorySource, SessionFinder

SESSIONS: Mapping[Harness, type[Sessions | AmpThreads]] = {
    Harness.CLAUDE_CODE: ClaudeCodeSessions,
    Harness.CODEX: CodexSessions,
    Harness.CURSOR: CursorSessions,
    Harness.AMP: AmpThreads,
    Harness.GEMINI: GeminiSessions,
    Harness.COPILOT: CopilotSessions,
    Harness.AIDER: AiderChats,
    Harness.GOOSE: GooseSessions,
    Harness.OPENCODE: OpencodeSessions,
    Harness.PI: PiSessions,
}
"""Those of each harness: a new harness is one module, and a line here."""


def history_sources(given: Surroundings) -> dict[str, HistorySource]:
    """Returns how to get histories, by retrieval method."""
    of_sessions = {method_of(harness): sessions.at(given) for harness, sessions in SESSIONS.items()}
    return {**of_sessions, "file": FileSnapshots(given.root), "inline": InlineNotes()}


def session_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """Returns a finder for every harness there is one for."""
    return {harness: sessions.at(given) for harness, sessions in SESSIONS.items()}


def watched_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """Of the harnesses that keep sessions in files: a network or a database is not asked every two seconds while its owner
    works."""
    return {
        harness: (CursorTranscripts if sessions is CursorSessions else sessions).at(given)
        for harness, sessions in SESSIONS.items()
        if issubclass(sessions, SessionFiles | AiderChats)
    }


def recorded_roots(given: Surroundings) -> tuple[str, ...]:
    """Directories of transcripts that only the variables name, for processes that do not have them."""

    def roots(given: Surroundings) -> tuple[str, ...]:
        own = (each for each in SESSIONS.values() if issubclass(each, Sessions) and hasattr(each, "below"))
        return given.roots(*(path for each in own for path in each.directories(given))).roots

    usual = roots(evolve(given, environ={}))
    return tuple(path for path in roots(given) if path not in usual)


def watched_directories(finders: Mapping[Harness, SessionFinder]) -> tuple[str, ...]:
    """Tells where these look, whether it is there or not."""
    found = (each for finder in finders.values() if isinstance(finder, SessionFiles) for each in finder.roots.roots)
    return tuple(dict.fromkeys(found))
