"""One module per harness, listed in one explicit dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.harness.aider import aider_chats
from agent_memory.adapters.harness.amp import AmpCommand, AmpThreads
from agent_memory.adapters.harness.claude_code import ClaudeCodeSessions
from agent_memory.adapters.harness.codex import CodexSessions
from agent_memory.adapters.harness.copilot import CopilotSessions
from agent_memory.adapters.harness.cursor import CursorSessions
from agent_memory.adapters.harness.gemini import GeminiSessions
from agent_memory.adapters.harness.goose import GooseSessions
from agent_memory.adapters.harness.history_file import FileSnapshots
from agent_memory.adapters.harness.history_inline import InlineNotes
from agent_memory.adapters.harness.opencode import OpencodeCommand, OpencodeSessions
from agent_memory.adapters.harness.pi import PiSessions
from agent_memory.adapters.harness.transcript_roots import (
    claude_code_roots,
    codex_roots,
    copilot_roots,
    cursor_roots,
    gemini_roots,
    goose_roots,
    opencode_roots,
    pi_roots,
)
from agent_memory.errors import Error
from agent_memory.ports import HistorySource


@frozen
class Surroundings:
    """What history sources are built from."""

    environ: Mapping[str, str]
    home: str | None
    root: Path
    sleep: Callable[[float], None]
    transcript_roots: tuple[str, ...] = ()
    """`capture.transcriptRoots`, and those recorded by setup."""
    project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple
    """Where sessions are known to have been, of any harness; asked for only when they are needed."""


def _claude_code(given: Surroundings) -> HistorySource:
    return ClaudeCodeSessions(claude_code_roots(given.environ, given.home, given.transcript_roots))


def _codex(given: Surroundings) -> HistorySource:
    return CodexSessions(codex_roots(given.environ, given.home, given.transcript_roots))


def _gemini(given: Surroundings) -> HistorySource:
    return GeminiSessions(gemini_roots(given.environ, given.home, given.transcript_roots))


def _pi(given: Surroundings) -> HistorySource:
    return PiSessions(pi_roots(given.environ, given.home, given.transcript_roots))


def _copilot(given: Surroundings) -> HistorySource:
    return CopilotSessions(copilot_roots(given.environ, given.home, given.transcript_roots))


def _aider(given: Surroundings) -> HistorySource:
    return aider_chats(given.environ, given.home, given.transcript_roots)


def _amp(given: Surroundings) -> HistorySource:
    data = given.environ.get("XDG_DATA_HOME") or (f"{given.home}/.local/share" if given.home else None)
    # In the root directory there is no project whose settings amp would follow.
    return AmpThreads(AmpCommand(given.environ, "/"), given.sleep, f"{data}/amp/threads" if data else None)


def _cursor(given: Surroundings) -> HistorySource:
    return CursorSessions(cursor_roots(given.environ, given.home, given.transcript_roots))


def _goose(given: Surroundings) -> HistorySource:
    return GooseSessions(goose_roots(given.environ, given.home, given.transcript_roots))


def _opencode(given: Surroundings) -> HistorySource:
    roots = opencode_roots(given.environ, given.home, given.transcript_roots)
    return OpencodeSessions(roots, OpencodeCommand(given.environ), given.environ.get("OPENCODE_DB"))


def _file(given: Surroundings) -> HistorySource:
    return FileSnapshots(given.root)


def _inline(_: Surroundings) -> HistorySource:
    return InlineNotes()


SOURCES: Mapping[str, Callable[[Surroundings], HistorySource]] = {
    "claude-code-session": _claude_code,
    "codex-session": _codex,
    "gemini-session": _gemini,
    "pi-session": _pi,
    "copilot-session": _copilot,
    "aider-session": _aider,
    "amp-thread": _amp,
    "cursor-session": _cursor,
    "goose-session": _goose,
    "opencode-session": _opencode,
    "file": _file,
    "inline": _inline,
}
"""How to get histories, by retrieval method: a new harness is one module and one line."""


def history_sources(given: Surroundings) -> dict[str, HistorySource]:
    """A source for every method there is one for."""
    return {method: build(given) for method, build in SOURCES.items()}
