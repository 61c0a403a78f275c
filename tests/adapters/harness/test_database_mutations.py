"""Cursor, goose and opencode: what they keep cut short, glued, in another encoding, and more than one fetch holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure

import cursor_conversations as cursor
import goose_sessions as goose
import opencode_sessions as opencode
from agent_memory.adapters.harness import turn_builder
from agent_memory.domain.history import History, Turn
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable
from claude_transcripts import mark_after
from database_worlds import (
    CursorStoreWorld,
    GooseRowsWorld,
    OpencodeRowsWorld,
)

ROWS: dict[type, str] = {
    GooseRowsWorld: "sessions.db",
    OpencodeRowsWorld: "opencode.db",
    CursorStoreWorld: "state.vscdb",
}


def long_composer(directory: Path) -> None:
    talk = cursor.Composer()
    for at in range(60):
        talk.user(f"Question {at} " + "x" * 300)
        talk.agent(f"Look {at}.", **cursor.tool("run_terminal_cmd", {"output": "y" * 300}, command=f"ls {at}"))
    talk.write(directory)


def long_goose() -> goose.Talk:
    talk = goose.Talk()
    for at in range(60):
        talk.user(f"Question {at} " + "x" * 300)
        talk.agent(f"Look {at}.", goose.calls(f"c{at}", "shell", command=f"ls {at}"))
        talk.user(goose.answers(f"c{at}", f"Answer {at} " + "y" * 300))
    return talk


def long_opencode() -> opencode.Talk:
    talk = opencode.Talk()
    for at in range(60):
        talk.user(f"Question {at} " + "x" * 300)
        talk.agent(f"Look {at}.", opencode.used(f"c{at}", "bash", "y" * 300, command=f"ls {at}"), "So it is.")
    return talk


LONG: dict[type, Callable[[Path], object]] = {
    CursorStoreWorld: long_composer,
    GooseRowsWorld: lambda directory: long_goose().write_rows(directory),
    OpencodeRowsWorld: lambda directory: long_opencode().write_rows(directory),
}


@pytest.mark.parametrize("kind", list(LONG))
def test_what_one_fetch_cannot_hold_comes_with_the_next_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    """P25"""
    LONG[kind](tmp_path)
    world = kind(tmp_path)
    whole: History = world.source.fetch(world.entry, None).unwrap()
    assert (len(whole.turns), whole.remaining) == (180, False)
    monkeypatch.setattr(turn_builder, "MAX_KEPT_BYTES", 20_000)
    turns: list[Turn] = []
    part: History = world.source.fetch(world.entry, None).unwrap()
    fetches = 1
    while part.remaining:
        turns += part.turns
        part = world.source.fetch(world.entry, mark_after(part)).unwrap()
        fetches += 1
    turns += part.turns
    assert fetches > 4
    assert [evolve(turn, record_id="") for turn in turns] == [evolve(turn, record_id="") for turn in whole.turns]


@pytest.mark.parametrize("kind", list(ROWS))
def test_a_database_cut_or_overwritten_anywhere_is_an_error_or_what_is_left(tmp_path: Path, kind: type) -> None:
    world = kind(tmp_path)
    world.hold(5)
    whole = {turn.text for turn in world.source.fetch(world.entry, None).unwrap().turns}
    path = tmp_path / ROWS[kind]
    data = path.read_bytes()
    outcomes = set()
    for at in range(0, len(data), len(data) // 40):
        for broken in (data[:at], data[:at] + b"\xa5" * 60 + data[at + 60 :]):
            path.write_bytes(broken)
            found = world.source.fetch(world.entry, None)
            if isinstance(found, Failure):
                outcomes.add(type(found.failure()))
            else:
                assert {turn.text for turn in found.unwrap().turns} & whole or found.unwrap().skipped
    assert outcomes <= {HistoryUnreadable, HistoryUnavailable}
    assert HistoryUnreadable in outcomes
