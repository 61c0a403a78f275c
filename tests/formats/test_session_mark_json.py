from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.history import SessionMark
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.formats.session_mark_json import parse_session_mark, render_session_mark

ids = st.from_regex(r"id__[1-9A-HJ-NP-Za-km-z]{6}", fullmatch=True)
hostile = st.text(st.characters(), min_size=1)
marks = st.builds(
    SessionMark,
    harness=st.sampled_from(Harness),
    session_id=hostile,
    last_record_id=st.text(),
    last_at_ms=st.none() | st.integers(0, 2**53),
    turns_seen=st.integers(0, 10**6),
    tools_answered=st.booleans(),
    agent_name=hostile,
    handoff_id=st.none() | ids,
    entry_ids=st.lists(ids, max_size=4).map(tuple),
)


@settings(max_examples=60)
@given(marks)
def test_what_is_read_is_what_was_written(mark: SessionMark) -> None:
    assert parse_session_mark(render_session_mark(mark), "m.json") == Success(mark)


WHOLE = json.loads(render_session_mark(SessionMark(Harness.AMP, "T-1", "r", 1, 2, True, "builtin", "id__a1b2c3", ())))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"harness": "emacs"},
        {"sessionId": ""},
        {"sessionId": 7},
        {"lastAt": -1},
        {"lastAt": "1"},
        {"turnsSeen": True},
        {"toolsAnswered": "yes"},
        {"handoffId": "../x"},
        {"entryIds": ["x"]},
        {"more": 1},
    ],
)
def test_each_wrong_value_is_a_damaged_mark_p6(change: dict[str, object]) -> None:
    corrupt = parse_session_mark(json.dumps({**WHOLE, **change}), "m.json").failure()
    assert isinstance(corrupt, StateCorrupt)
    assert len(corrupt.problems) == 1, corrupt
    assert next(iter(change)) in corrupt.problems[0]


@pytest.mark.parametrize("text", ["", "null", "{}", "[]", '{"version": 1', "\x00"])
def test_what_is_no_mark_is_damaged_and_never_a_session_unseen_p6(text: str) -> None:
    assert isinstance(parse_session_mark(text, "m.json").failure(), StateCorrupt)


def test_all_problems_are_listed() -> None:
    corrupt = parse_session_mark(json.dumps({**WHOLE, "harness": "x", "turnsSeen": "y"}), "m.json").failure()
    assert isinstance(corrupt, StateCorrupt)
    assert len(corrupt.problems) == 2
