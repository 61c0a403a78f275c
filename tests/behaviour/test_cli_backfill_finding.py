"""`memory backfill` with harnesses that keep no file a session, as its users run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_chats import AiderChat
from claude_transcripts import Conversation
from cursor_conversations import sample_composer
from goose_sessions import sample as goose_sample
from memory_process import Memory
from opencode_sessions import sample as opencode_sample

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.unrecorded(home)


def test_sessions_in_databases_are_put_into_the_inbox_once(memory: Memory) -> None:
    goose = memory.home / ".local" / "share" / "goose" / "sessions"
    opencode = memory.home / ".local" / "share" / "opencode"
    cursor = memory.home / ".config" / "Cursor" / "User" / "globalStorage"
    for directory in (goose, opencode, cursor):
        directory.mkdir(parents=True)
    goose_sample().write(goose)
    opencode_sample().write_rows(opencode)
    sample_composer().write(cursor)
    first = memory("backfill")
    assert (first.code, first.err) == (0, "")
    assert sorted(name.split("_")[1] for name in memory.pending()) == ["cursor", "goose", "opencode"]
    again = memory("backfill")
    assert again.code == 0
    assert len(memory.pending()) == 3


def test_runs_of_aider_are_found_where_another_harness_was(memory: Memory) -> None:
    project = memory.home / "harbour"
    chat = AiderChat()
    chat.user("Remember: the api listens on port 9090.")
    chat.write(project)
    assert memory("backfill", "aider").code == 0
    assert memory.pending() == []
    talk = Conversation(SESSION, 1_770_000_000_000)
    talk.user("Remember: deploys run from main only.", cwd=str(project))
    projects = memory.home / ".claude" / "projects" / "-harbour"
    projects.mkdir(parents=True)
    talk.write(projects)
    assert memory("backfill", "claude-code").code == 0
    assert memory("backfill", "aider").code == 0
    assert sorted(name.split("_")[1] for name in memory.pending()) == ["aider", "claude-code"]
