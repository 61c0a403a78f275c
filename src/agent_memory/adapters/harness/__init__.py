"""One module a harness: how to read its sessions (`source`), and how to find past ones (`finder`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_memory.adapters.harness import (
    aider,
    amp,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    goose,
    opencode,
    pi,
)
from agent_memory.adapters.harness.captured_notes import FileSnapshots, InlineNotes
from agent_memory.adapters.harness.session_finders import TranscriptFinder
from agent_memory.adapters.harness.transcripts import Surroundings as Surroundings
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import HistorySource, SessionFinder

SOURCES: Mapping[str, Callable[[Surroundings], HistorySource]] = {
    "claude-code-session": claude_code.source,
    "codex-session": codex.source,
    "gemini-session": gemini.source,
    "pi-session": pi.source,
    "copilot-session": copilot.source,
    "aider-session": aider.source,
    "amp-thread": amp.source,
    "cursor-session": cursor.source,
    "goose-session": goose.source,
    "opencode-session": opencode.source,
    "file": lambda given: FileSnapshots(given.root),
    "inline": lambda _: InlineNotes(),
}
"""How to get histories, by retrieval method: a new harness is one module, and a line here and below."""

FINDERS: Mapping[Harness, Callable[[Surroundings], SessionFinder]] = {
    Harness.CLAUDE_CODE: claude_code.finder,
    Harness.CODEX: codex.finder,
    Harness.CURSOR: cursor.finder,
    Harness.AMP: amp.finder,
    Harness.GEMINI: gemini.finder,
    Harness.COPILOT: copilot.finder,
    Harness.AIDER: aider.finder,
    Harness.GOOSE: goose.finder,
    Harness.OPENCODE: opencode.finder,
    Harness.PI: pi.finder,
}
"""How to find past sessions."""

UNWATCHED = frozenset((Harness.AMP, Harness.GOOSE, Harness.OPENCODE))
"""Whose sessions are asked for by a command, over a network, or are in a database, which is not asked every two seconds
while its owner works."""


def history_sources(given: Surroundings) -> dict[str, HistorySource]:
    """A source for every method there is one for."""
    return {method: build(given) for method, build in SOURCES.items()}


def session_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """A finder for every harness there is one for."""
    return {harness: build(given) for harness, build in FINDERS.items()}


def watched_finders(given: Surroundings) -> dict[Harness, SessionFinder]:
    """Of the harnesses that keep sessions in files."""
    builds = {**FINDERS, Harness.CURSOR: cursor.watched_finder}
    return {harness: build(given) for harness, build in builds.items() if harness not in UNWATCHED}


def watched_directories(finders: Mapping[Harness, SessionFinder]) -> tuple[str, ...]:
    """Where these look, whether it is there or not."""
    found = (each for finder in finders.values() if isinstance(finder, TranscriptFinder) for each in finder.roots.roots)
    return tuple(dict.fromkeys(found))
