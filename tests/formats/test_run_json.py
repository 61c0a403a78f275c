"""Files of a run that are damaged are named as such, and never taken for a run with nothing to do (P6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.domain.change import Create, Retire
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.queue import InboxEntry, InlineNote, Pending
from agent_memory.domain.run import DefragRun, KeptReply, Run, TieringMemo, Work
from agent_memory.domain.run_log import LoggedAction, LoggedRun, LoggedSession
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.formats.json_codec import Documents
from agent_memory.formats.run_json import (
    CHANGES,
    CHECKPOINT,
    DEFRAG_CHECKPOINT,
    REPLY,
    TIERING,
    parse_report,
    render_report_document,
)

NOON_MS = 1_772_409_600_000
PENDING = Pending(InboxEntry(NOON_MS, Harness.MANUAL, InlineNote("Tea", "Green.")), "one.json", ("one.json",))
KEPT = CHECKPOINT.render(("write_entries", Run("run-1", NOON_MS, work=Work(PENDING))))
PAID = REPLY.render(KeptReply("text", "nonce", "hash", {"id__aaaaaa": "h"}))
LATER = (Create(MemoryEntry(Meta("id__aaaaaa", "Tea", NOON_MS, NOON_MS), "Green.")), Retire("id__bbbbbb", "h"))
DAMAGED = ["", "{", "[]", "5", "null", "[" * 100_000]


def without(text: str, key: str) -> str:
    return json.dumps({name: value for name, value in json.loads(text).items() if name != key})


def test_what_was_written_is_read() -> None:
    state, run = CHECKPOINT.parse(KEPT.encode(), "p")
    assert (state, run.id, run.work, run.resumed) == ("write_entries", "run-1", Work(PENDING), True)
    assert REPLY.parse(PAID.encode(), "p").shown == {"id__aaaaaa": "h"}
    assert CHANGES.parse(CHANGES.render(LATER).encode(), "p") == LATER


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        *((codec, text) for codec in (CHECKPOINT, REPLY, CHANGES) for text in DAMAGED),
        (CHECKPOINT, without(KEPT, "run")),
        (CHECKPOINT, without(KEPT, "state")),
        (CHECKPOINT, KEPT.replace("Green.", "\\ud800")),
        (REPLY, without(PAID, "nonce")),
        (REPLY, PAID.replace('"text"', "5")),
        (CHANGES, '{"changes": [{"act": "explode"}]}'),
        (CHANGES, '{"changes": 5}'),
    ],
)
def test_what_is_damaged_is_named(codec: Documents[Any], text: str) -> None:
    with pytest.raises(StateCorrupt) as refused:
        codec.parse(text.encode(), "runs/1/x.json")
    assert (refused.value.path, bool(refused.value.problems)) == ("runs/1/x.json", True)


def test_what_version_1_0_had_left_is_read() -> None:
    """It had no version in the list of changes, and sets in any order."""
    assert CHANGES.parse(json.dumps({"changes": json.loads(CHANGES.render(LATER))["changes"]}).encode(), "p") == LATER


# -- defrag


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
memos = st.builds(
    TieringMemo, words, words, st.frozensets(words, max_size=4), st.dictionaries(words, st.integers(0, 9), max_size=3)
)


@given(memos)
def test_a_memo_is_read_as_it_was_written(memo: TieringMemo) -> None:
    assert TIERING.parse(TIERING.render(memo).encode(), "tiering.json") == memo
    text = DEFRAG_CHECKPOINT.render(("apply_changes", DefragRun("r", 1, memo=memo)))
    state, run = DEFRAG_CHECKPOINT.parse(text.encode(), "p")
    assert (state, run.memo) == ("apply_changes", memo)


# -- reports

MERGE = LoggedAction("merge", ("id__a1b2c3", "id__d4e5f6"), ("id__g7h8j9",), "Ports of the api", "f" * 32)
RUN = LoggedRun(
    run_id="2026-02-13T14-30-05.123Z_4dbfbe",
    machine="defrag",
    started_at_ms=1_770_993_005_123,
    ended_at_ms=1_770_993_010_000,
    result="completed",
    summary="1 merged",
    actions=(MERGE,),
    dropped=("id__a1b2c3: it is pinned",),
    warnings=("git is away",),
)
SESSION = {
    "inbox": ["a.json"],
    "harness": "amp",
    "session": "T-1",
    "outcome": {"verdict": "written", "reason": "", "entries": ["id__a1b2c3"], "dropped": ["b: too long"]},
    "applied": [],
}


def parsed(text: str) -> LoggedRun:
    return parse_report(text.encode(), "report.json")


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        evolve(RUN, machine="undo", undid="2026-02-13T14-00-00.000Z_aaaaaa", actions=()),
        evolve(RUN, machine="consolidate", ended_at_ms=None, result="paused"),
    ],
)
def test_a_report_is_read_as_it_was_written(run: LoggedRun) -> None:
    assert parsed(render_report_document(run)) == run


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
actions = st.builds(LoggedAction, text, st.tuples(text), st.tuples(text, text), text, text)


def test_sessions_are_read_with_their_outcome() -> None:
    document = render_report_document(RUN, more={"sessions": [SESSION], "waiting": 0})
    assert parsed(document).sessions == (LoggedSession("amp", "T-1", "written", "", ("id__a1b2c3",), ("b: too long",)),)


def test_what_is_absent_is_empty_and_what_is_unknown_is_no_matter() -> None:
    document = {"version": 1, "run": "r", "machine": "undo", "startedAt": "2026-02-13T14:30:05.123Z", "new": 1}
    read = parsed(json.dumps({**document, "result": "completed"}))
    assert (read.run_id, read.machine, read.actions, read.ended_at_ms, read.error) == ("r", "undo", (), None, "")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ({"version": 2}, "version is 2"),
        ({"machine": "sweep"}, "machine is 'sweep'"),
        ({"startedAt": "yesterday"}, "startedAt is 'yesterday', expected an instant"),
        ({"actions": {}}, "actions is an object, expected a list"),
        ({"actions": [{"kind": 1, "ids": []}]}, "actions[0].kind is 1, expected text"),
        ({"sessions": [{}]}, "outcome is missing"),
        ({"error": "none"}, "error is 'none', expected an object"),
        ({"summary": None}, "summary is null, expected text"),
    ],
)
def test_a_damaged_report_is_an_error_that_says_where_p6(damage: dict[str, object], problem: str) -> None:
    document = {**json.loads(render_report_document(RUN)), **damage}
    with pytest.raises(StateCorrupt) as refused:
        parsed(json.dumps(document))
    assert any(problem in each for each in refused.value.problems), refused.value.problems
