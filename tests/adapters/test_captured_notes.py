"""Snapshots of files, and notes in the entry itself, as histories."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure

from agent_memory.adapters.harness.captured_notes import FileSnapshots, InlineNotes
from agent_memory.domain.history import History, Role
from agent_memory.domain.queue import FileSnapshot, InboxEntry, InlineNote
from agent_memory.domain.transcripts.own_marks import MEMORY_OUTPUT_PLACEHOLDER, SECTION_END, SECTION_START
from agent_memory.domain.transcripts.turns import TOOL_TEXT_CHARS, document_turns
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable
from faults import failing_at

PATH = "inbox/snapshots/notes.md"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "inbox" / "snapshots").mkdir(parents=True)
    return tmp_path


def fetch(store: Path, path: str = PATH) -> History | Error:
    entry = InboxEntry(7, Harness.MANUAL, FileSnapshot(path))
    result = FileSnapshots(store).fetch(entry, None)
    return result.value_or(None) or result.failure()


def test_a_document_is_a_history_of_tool_turns(store: Path) -> None:
    """P19: a file's words are nobody's in the session."""
    (store / PATH).write_text("﻿# Ports\n\nThe dev server listens on 9090.\n", encoding="utf-8")
    history = fetch(store)
    assert isinstance(history, History)
    assert [(turn.role, turn.tool_name) for turn in history.turns] == [(Role.TOOL, "file")]
    assert history.turns[0].text == "# Ports\n\nThe dev server listens on 9090."
    assert (history.title, history.started_at_ms, history.ended_at_ms) == ("Ports", 7, 7)


@pytest.mark.parametrize("content", [b"", b" \n\n", b"\x89PNG\x00\x00", b"x" * (16 * 1024 * 1024 + 1)])
def test_what_is_no_text_is_unreadable(store: Path, content: bytes) -> None:
    (store / PATH).write_bytes(content)
    assert isinstance(fetch(store), HistoryUnreadable)


@pytest.mark.parametrize(
    "path", [PATH, "../outside.md", "/etc/passwd", "inbox/snapshots", "inbox/link.md", "linked/notes.md", ""]
)
def test_what_is_gone_or_is_not_inside_the_store_is_unreadable(store: Path, path: str) -> None:
    """P21"""
    (store.parent / "outside.md").write_text("secret")
    (store / "inbox" / "link.md").symlink_to(store.parent / "outside.md")
    (store / "linked").symlink_to(store.parent)
    (store.parent / "notes.md").write_text("secret")
    assert isinstance(fetch(store, path), HistoryUnreadable)


def test_a_managed_section_in_a_document_is_left_out(store: Path) -> None:
    """P26"""
    (store / PATH).write_text(f"# Mine\n\n{SECTION_START}\nnote\n{SECTION_END}\n")
    history = fetch(store)
    assert isinstance(history, History)
    assert history.turns[0].text == f"# Mine\n\n{MEMORY_OUTPUT_PLACEHOLDER}"


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["# A", "## B c", "word " * 30, "", "```", "# not one", "~~~", "x" * 5_000]), max_size=30)
)
def test_sections_are_bounded_and_hold_every_word(lines: list[str]) -> None:
    text = "\n".join(lines)
    turns = document_turns(text, "file")
    assert all(0 < len(turn.text) <= TOOL_TEXT_CHARS for turn in turns)
    assert "".join("".join(turn.text for turn in turns).split()) == "".join(text.split())
    assert len({turn.record_id for turn in turns}) == len(turns)


def test_a_long_document_is_cut_at_its_headings() -> None:
    text = "\n".join(f"# Part {number}\n\n" + "word " * 200 for number in range(6))
    assert [turn.text.splitlines()[0] for turn in document_turns(text, "file")] == [
        f"# Part {number}" for number in range(6)
    ]


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE])
def test_a_failing_disk_does_not_ruin_a_snapshot(tmp_path: Path, number: int) -> None:
    """P5, P6"""
    (tmp_path / "inbox" / "snapshots").mkdir(parents=True)
    (tmp_path / "inbox" / "snapshots" / "notes.md").write_text("# Ports")
    source = FileSnapshots(tmp_path)
    entry = InboxEntry(0, Harness.MANUAL, FileSnapshot("inbox/snapshots/notes.md"))
    failures = []
    for k in range(1, 40):
        with failing_at(k, number, once=True) as counter:
            found = source.fetch(entry, None)
        if not counter.struck:
            break
        if isinstance(found, Failure):
            failures.append(type(found.failure()))
    assert failures
    assert set(failures) == {HistoryUnavailable}


def test_an_inline_note_is_the_persons_at_a_terminal_and_the_agents_elsewhere() -> None:
    note = InlineNote("Ports", "The dev server listens on 9191.", thread_id="T-1")
    source = InlineNotes()
    for harness, role in ((Harness.MANUAL, Role.USER), (Harness.CLAUDE_CODE, Role.AGENT)):
        found = source.fetch(InboxEntry(5, harness, note), None).unwrap()
        assert [(turn.role, turn.text) for turn in found.turns] == [(role, "Ports\n\nThe dev server listens on 9191.")]
        assert (found.title, found.ended_at_ms) == ("Ports", 5)
        assert found.session_id != "T-1"
