"""Cutting a session into prompts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.transcripts.windows import MIN_WINDOW_CHARS, cut_windows, turn_chars
from agent_memory.domain.vocabulary import Harness

CALLS = st.builds(ToolCall, name=st.just("Bash"), brief=st.text("abc ", max_size=400), path=st.none() | st.just("/a/b"))
TURNS = st.builds(
    lambda role, words, size, calls: Turn(
        0, role, (words * size)[:9_000], "", None, tuple(calls) if role is Role.AGENT else ()
    ),
    st.sampled_from(Role),
    st.text("ab\n ", min_size=1, max_size=20),
    st.integers(0, 900),
    st.lists(CALLS, max_size=12),
)
HISTORIES = st.lists(TURNS, max_size=14).map(lambda turns: History(Harness.AMP, "s", tuple(_numbered(turns))))


def _numbered(turns: list[Turn]) -> list[Turn]:
    from attrs import evolve

    return [evolve(turn, number=at, record_id=f"r{at}", at_ms=at * 10) for at, turn in enumerate(turns, 1)]


def history(*turns: Turn) -> History:
    return History(Harness.AMP, "s", tuple(_numbered(list(turns))))


def user(text: str) -> Turn:
    return Turn(0, Role.USER, text, "")


def agent(text: str) -> Turn:
    return Turn(0, Role.AGENT, text, "")


def tool(text: str) -> Turn:
    return Turn(0, Role.TOOL, text, "")


@settings(max_examples=80)
@given(whole=HISTORIES, max_chars=st.integers(MIN_WINDOW_CHARS, 12_000))
def test_windows_fit_and_together_are_the_session(whole: History, max_chars: int) -> None:
    windows = cut_windows(whole, max_chars)
    turns = [turn for window in windows for turn in window.turns]
    assert all(sum(map(turn_chars, window.turns)) <= max_chars for window in windows)
    assert [turn.number for turn in turns] == sorted(turn.number for turn in turns)
    for original in whole.turns:
        parts = [turn for turn in turns if turn.number == original.number]
        assert {(part.role, part.record_id, part.at_ms) for part in parts} == {
            (original.role, original.record_id, original.at_ms)
        }
        assert tuple(call for part in parts for call in part.tool_calls) == original.tool_calls
        text = "".join(part.text for part in parts)
        if original.role is Role.TOOL:
            assert len(text) <= len(original.text) + 60
        else:
            assert text == original.text


@settings(max_examples=40)
@given(whole=HISTORIES, max_chars=st.integers(MIN_WINDOW_CHARS, 12_000))
def test_every_window_knows_whether_tools_answered_before_it(whole: History, max_chars: int) -> None:
    answered = False
    for window in cut_windows(whole, max_chars):
        assert window.tools_answered_before == answered
        answered = answered or any(turn.role is Role.TOOL for turn in window.turns)


def test_a_session_that_fits_is_one_window_and_unchanged() -> None:
    whole = history(user("Hello."), agent("Hi."), tool("x" * 3_000))
    assert cut_windows(whole, 10_000) == (whole,)
    assert cut_windows(history(), 10_000) == (history(),)


def test_tool_output_is_shortened_before_anything_is_cut() -> None:
    whole = history(user("Hello."), tool("x" * 4_000), tool("y" * 4_000), agent("Hi."))
    (window,) = cut_windows(whole, 5_000)
    assert [len(turn.text) < 2_100 for turn in window.turns] == [True] * 4
    assert [turn.clipped_chars for turn in window.turns] == [0, 2_000, 2_000, 0]


def test_a_cut_falls_before_a_users_turn_where_one_is_near() -> None:
    whole = history(user("a" * 900), agent("b" * 900), user("c" * 300), agent("d" * 900))
    windows = cut_windows(whole, 2_500)
    assert [[turn.number for turn in window.turns] for window in windows] == [[1, 2], [3, 4]]
    assert [window.ended_at_ms for window in windows] == [20, None]


def test_a_turn_too_long_by_itself_is_divided_at_lines_under_its_number() -> None:
    (first, second, third) = cut_windows(history(agent("line\n" * 1_000)), 2_060)
    assert [window.turns[0].number for window in (first, second, third)] == [1, 1, 1]
    assert first.turns[0].text.endswith("line\n")


def test_a_window_too_small_for_one_call_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="too small"):
        cut_windows(history(), MIN_WINDOW_CHARS - 1)
