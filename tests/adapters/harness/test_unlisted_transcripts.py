"""A directory of a harness that cannot be listed is never one without the session: it may hold a newer file of it (P6)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Success

from agent_memory.adapters.harness.aider import CHAT_FILE, AiderChats
from agent_memory.adapters.harness.claude_code import ClaudeCodeSessions
from agent_memory.adapters.harness.codex import CodexSessions
from agent_memory.adapters.harness.copilot import CopilotSessions
from agent_memory.adapters.harness.cursor import CursorSessions
from agent_memory.adapters.harness.gemini import GeminiSessions
from agent_memory.adapters.harness.goose import DATABASE, GooseSessions
from agent_memory.adapters.harness.opencode import OpencodeSessions
from agent_memory.adapters.harness.pi import PiSessions
from agent_memory.adapters.harness.transcripts import TranscriptRoots
from agent_memory.domain.queue import Context, InboxEntry, SessionFile, SessionMethod
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import HistoryUnavailable
from agent_memory.ports import HistorySource
from faults import failing_on
from harness_surroundings import surroundings

SOURCES: dict[SessionMethod, Callable[[TranscriptRoots], HistorySource]] = {
    "claude-code-session": ClaudeCodeSessions,
    "codex-session": CodexSessions,
    "copilot-session": CopilotSessions,
    "cursor-session": CursorSessions,
    "gemini-session": GeminiSessions,
    "goose-session": GooseSessions,
    "pi-session": PiSessions,
}


@pytest.fixture
def roots(tmp_path: Path) -> TranscriptRoots:
    root = tmp_path / "sessions"
    (root / "lamp").mkdir(parents=True)
    return TranscriptRoots((str(root),))


def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "listdir", refuse)


def reason(source: HistorySource, entry: InboxEntry) -> str:
    error = source.fetch(entry, None).failure()
    assert isinstance(error, HistoryUnavailable)
    return error.reason


@pytest.mark.parametrize("method", [method for method in SOURCES if method != "goose-session"])  # it lists nothing
def test_it_is_said_that_it_cannot_be_looked_through_p6(
    roots: TranscriptRoots, method: SessionMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, entry = SOURCES[method](roots), InboxEntry(0, Harness.MANUAL, SessionFile(method, "s-1"))
    assert "cannot be looked through" not in reason(source, entry)  # the control: it is not there
    unlisted(monkeypatch)
    assert "cannot be looked through: Permission denied" in reason(source, entry)


def test_the_databases_of_opencode_are_not_taken_for_none_p6(
    roots: TranscriptRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = OpencodeSessions(roots)
    entry = InboxEntry(0, Harness.OPENCODE, SessionFile("opencode-session", "ses_1"))
    assert "cannot be looked through" not in reason(source, entry)
    unlisted(monkeypatch)
    assert "cannot be looked through: Permission denied" in reason(source, entry)


@pytest.mark.parametrize("method", sorted(SOURCES))
def test_nor_is_a_file_that_cannot_be_looked_at_p6(roots: TranscriptRoots, method: SessionMethod) -> None:
    entry = InboxEntry(0, Harness.MANUAL, SessionFile(method, "s-1", f"{roots.roots[0]}/gone/s-1.jsonl"))
    assert "Input/output error" not in reason(SOURCES[method](roots), entry)
    with failing_on(DATABASE if method == "goose-session" else "gone/s-1.jsonl", "lstat"):
        assert "cannot be looked through: Input/output error" in reason(SOURCES[method](roots), entry)


def test_nor_is_the_chat_of_a_directory_above_it_taken_for_it_p6(home: Path) -> None:
    inner = home / "work" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / CHAT_FILE).write_text("# aider chat started at 2026-02-13 14:30:05\n\n#### outer\n")
    given = evolve(surroundings(home), project_directories=lambda: [Success(str(inner))])
    chats = AiderChats(given)
    assert chats.above(str(inner)) == str(inner.parent / CHAT_FILE)
    with failing_on(f"inner/{CHAT_FILE}", "lstat"):
        entry = InboxEntry(0, Harness.AIDER, SessionFile("aider-session", "s-1"), Context(cwd=str(inner)))
        assert "Input/output error" in reason(chats, entry)
        found = list(chats.find(None))
    assert [each.failure().code for each in found] == ["store-io"]
