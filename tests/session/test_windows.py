"""Cutting a session into prompts."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.windows import MIN_WINDOW_CHARS, cut_windows, turn_chars

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
    return [evolve(turn, number=at, record_id=f"r{at}", at_ms=at * 10) for at, turn in enumerate(turns, 1)]


def history(*turns: Turn) -> History:
    return History(Harness.AMP, "s", tuple(_numbered(list(turns))))


def user(text: str) -> Turn:
    return Turn(0, Role.USER, text, "")


def agent(text: str) -> Turn:
    return Turn(0, Role.AGENT, text, "")


def tool(text: str, name: str | None = None, *, failed: bool = False) -> Turn:
    return Turn(0, Role.TOOL, text, "", tool_name=name, failed=failed)


def calling(name: str, brief: str = "", path: str | None = None, *, writes: bool = False) -> Turn:
    return Turn(0, Role.AGENT, "", "", tool_calls=(ToolCall(name, brief, path, writes),))


@settings(max_examples=80)
@given(whole=HISTORIES, max_chars=st.integers(MIN_WINDOW_CHARS, 12_000))
def test_windows_fit_and_together_are_the_session(whole: History, max_chars: int) -> None:
    windows = cut_windows(whole, max_chars)
    turns = [turn for window in windows for turn in window.turns]
    assert all(sum(map(turn_chars, window.turns)) <= max_chars for window in windows)
    assert [turn.number for turn in turns] == sorted(turn.number for turn in turns)
    for original in whole.turns:
        parts = [turn for turn in turns if turn.number == original.number]
        if original.role is Role.TOOL and not parts:
            continue  # it said what the answer before it had said
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


def outputs(*turns: Turn, max_chars: int = 100_000) -> list[str]:
    return [
        turn.text
        for window in cut_windows(history(*turns), max_chars)
        for turn in window.turns
        if turn.role is Role.TOOL
    ]


def test_what_only_echoes_the_project_is_cut_before_other_output_and_a_failure_never() -> None:
    turns = (
        user("Hello."),
        *(calling("Read", path="/srv/app.py"), tool("e" * 4_000, "Read")),
        *(calling("Bash", "cd app && git log -5"), tool("l" * 4_000, "Bash")),
        *(calling("Bash", "docker ps"), tool("o" * 4_000, "Bash")),
        *(calling("Bash", "make test"), tool("t" * 4_000, "Bash")),
        *(calling("Read", path="/srv/no.py"), tool("f" * 4_000, "Read", failed=True)),
        agent("Hi."),
    )
    assert list(map(len, outputs(*turns))) == [4_000] * 5
    read, log, other, test, failed = map(len, outputs(*turns, max_chars=17_000))
    assert 1_500 < read == log < 2_100
    assert (other, test, failed) == (4_000, 4_000, 4_000)
    read, log, other, test, failed = map(len, outputs(*turns, max_chars=11_500))
    assert read == log < other < 2_000
    assert (test, failed) == (4_000, 4_000)


def test_no_more_is_cut_than_the_room_asks_for() -> None:
    turns = [each for number in range(9) for each in (calling("Read"), tool(f"{number}" * 4_000, "Read"))]
    for max_chars in (8_000, 20_000, 30_000):
        whole = cut_windows(history(*turns), max_chars)
        assert len(whole) == 1
        assert sum(map(turn_chars, whole[0].turns)) > max_chars * 0.97 - 100


def test_what_says_nothing_new_is_left_out() -> None:
    polled = "The build is still running, and has been for a while: step 3 of 12, nothing to see."
    assert outputs(
        *(calling("Edit", "a => b", "/srv/app.py", writes=True), tool("The file has been updated: a b c", "Edit")),
        *(calling("Edit", "c => d", "/srv/app.py", writes=True), tool("No such text", "Edit", failed=True)),
        *(calling("TodoWrite", "[pending] sleep"), tool("Todos have been modified", "TodoWrite")),
        *(
            calling("BashOutput", "1"),
            tool(polled, "BashOutput"),
            calling("BashOutput", "1"),
            tool(polled, "BashOutput"),
        ),
        *(calling("Bash", "ls missing"), tool("", "Bash")),
    ) == ["No such text", polled, ""]


def test_of_todo_lists_the_last_is_shown() -> None:
    lists = [calling("TodoWrite", f"[{state}] Deploy") for state in ("pending", "in_progress", "completed")]
    (window,) = cut_windows(history(*lists, evolve(lists[0], text="Now the rest.")), 10_000)
    assert [(turn.text, [call.brief for call in turn.tool_calls]) for turn in window.turns] == [
        ("Now the rest.", ["[pending] Deploy"])
    ]
    (window,) = cut_windows(history(evolve(lists[0], text="Go."), calling("Bash", "make"), lists[1]), 10_000)
    assert [(turn.text, [call.brief for call in turn.tool_calls]) for turn in window.turns] == [
        ("Go.", []),
        ("", ["make"]),
        ("", ["[in_progress] Deploy"]),
    ]


@pytest.mark.parametrize(
    "call",
    [
        calling("Read", path="/srv/web/AGENTS.md"),
        calling("bash", "cat CLAUDE.md"),
        calling("view", path="/home/ana/.agents/skills/animations/STANDARDS.md"),
        calling("Read", path="/home/ana/.claude/projects/-srv/memory/MEMORY.md"),
        calling("skill", "animations"),
    ],
)
def test_what_agents_are_told_anyway_is_cut_to_a_few_lines(call: Turn) -> None:
    (text,) = outputs(call, tool("Use springs.\n" * 200, call.tool_calls[0].name))
    assert text.startswith("Use springs.\n")
    assert "characters left out" in text
    assert len(text) < 350


def test_the_numbers_of_a_files_lines_are_left_out() -> None:
    numbered = "".join(f"{number:>6}→line {number}\n" for number in range(1, 9))
    assert outputs(calling("Read"), tool(numbered, "Read"), calling("Bash", "make test"), tool(numbered, "Bash")) == [
        "".join(f"line {number}\n" for number in range(1, 9)),
        numbered,
    ]
    assert outputs(calling("Read"), tool("1. one\n2. two\n", "Read")) == ["1. one\n2. two\n"]


def test_a_notice_that_comes_again_and_again_stands_once() -> None:
    notices = [tool("Fetch: progress", "task-notification") for _ in range(3)]
    asked = calling("Bash", "make fetch")
    assert outputs(asked, tool("started", "Bash"), *notices, tool("Fetch: done", "task-notification")) == [
        "started",
        "Fetch: progress",
        "Fetch: done",
    ]


def test_paths_begin_where_the_session_is() -> None:
    turns = (
        calling("Read", "/srv/web/app.py", "/srv/web/app.py"),
        tool("/srv/web/app.py:1: /srv/other/app.py", "Read"),
        user("Look at /srv/web/app.py"),
    )
    (window,) = cut_windows(evolve(history(*turns), cwd="/srv/web"), 10_000)
    asked, printed, said = window.turns
    assert (asked.tool_calls[0].path, asked.tool_calls[0].brief) == ("app.py", "app.py")
    assert printed.text == "app.py:1: /srv/other/app.py"
    assert said.text == "Look at /srv/web/app.py"


def test_a_cut_falls_before_a_users_turn_where_one_is_near() -> None:
    whole = history(user("a" * 900), agent("b" * 900), user("c" * 300), agent("d" * 900))
    windows = cut_windows(whole, 2_500)
    assert [[turn.number for turn in window.turns] for window in windows] == [[1, 2], [3, 4]]
    assert [window.ended_at_ms for window in windows] == [20, None]


def test_a_turn_too_long_by_itself_is_divided_at_lines_under_its_number() -> None:
    (first, second, third) = cut_windows(history(agent("line\n" * 1_000)), 2_060)
    assert [window.turns[0].number for window in (first, second, third)] == [1, 1, 1]
    assert first.turns[0].text.endswith("line\n")
