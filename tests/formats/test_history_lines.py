from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.adapters.records import kept_histories_files
from agent_memory.adapters.records.kept_histories_files import render_history_lines
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.transcripts.turns import KeptPart
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.results import as_result

parse_history_lines = as_result(kept_histories_files.parse_history_lines)

texts = st.text(max_size=60)
instants = st.none() | st.integers(0, 2**53)
calls = st.builds(ToolCall, texts, texts, st.none() | st.text(min_size=1, max_size=60), st.booleans())
turns = st.builds(
    Turn,
    number=st.integers(1, 10**7),
    role=st.sampled_from(Role),
    text=texts,
    record_id=texts,
    at_ms=instants,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_name=st.none() | st.text(min_size=1, max_size=60),
    failed=st.booleans(),
    clipped_chars=st.integers(0, 10**6),
)
histories = st.builds(
    History,
    harness=st.sampled_from(Harness),
    session_id=texts,
    turns=st.lists(turns, max_size=4).map(tuple),
    title=st.none() | st.text(min_size=1, max_size=60),
    cwd=st.none() | st.text(min_size=1, max_size=60),
    branch=st.none() | st.text(min_size=1, max_size=60),
    agent=st.none() | st.text(min_size=1, max_size=60),
    started_at_ms=instants,
    ended_at_ms=instants,
    tools_answered_before=st.booleans(),
    remaining=st.booleans(),
)
parts = st.builds(KeptPart, histories, st.none() | st.text(min_size=1, max_size=60))


@settings(max_examples=80)
@given(parts)
def test_what_was_rendered_is_parsed_whole(part: KeptPart) -> None:
    lines = list(render_history_lines(part))
    assert len(lines) == len(part.history.turns) + 1
    assert all(line.isascii() and line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert parse_history_lines(lines, "x") == Success(part)


def test_half_a_surrogate_pair_is_kept_as_it_is() -> None:
    part = KeptPart(History(Harness.AMP, "T-1", (Turn(1, Role.USER, "\ud83d", "r1"),)), None)
    assert parse_history_lines(render_history_lines(part), "x") == Success(part)


ABOUT = {"version": 1, "harness": "amp", "sessionId": "T-1"}
TURN = {"number": 1, "role": "user", "text": "x", "record": "r1"}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["not json"],
        ["[" * 100_000],
        [json.dumps([])],
        [json.dumps({**ABOUT, "version": 2})],
        [json.dumps({**ABOUT, "version": True})],
        [json.dumps({**ABOUT, "harness": "clippy"})],
        [json.dumps({**ABOUT, "more": 1})],
        [json.dumps({**ABOUT, "startedAt": "now"})],
        [json.dumps(ABOUT), json.dumps({**TURN, "role": "system"})],
        [json.dumps(ABOUT), json.dumps({**TURN, "number": "1"})],
        [json.dumps(ABOUT), json.dumps({"number": 1})],
        [json.dumps(ABOUT), json.dumps({**TURN, "calls": [{"name": "x"}]})],
        [json.dumps(ABOUT), json.dumps({**TURN, "calls": "x"})],
        [json.dumps(ABOUT), json.dumps(TURN)[:-3]],
    ],
)
def test_anything_else_is_refused_as_a_whole(lines: list[str]) -> None:
    """P6"""
    refused = parse_history_lines(lines, "histories/x")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), StateCorrupt)


def test_the_shortest_lines_are_understood() -> None:
    """The positive control of those above."""
    parsed = parse_history_lines([json.dumps(ABOUT), json.dumps(TURN)], "x")
    assert parsed == Success(KeptPart(History(Harness.AMP, "T-1", (Turn(1, Role.USER, "x", "r1"),)), None))
