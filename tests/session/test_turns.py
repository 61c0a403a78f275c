"""How much of a session is kept, and which turns are new."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Harness
from agent_memory.session.history import Role, SessionMark, Turn
from agent_memory.session.tool_calls import entry_uses, tool_call
from agent_memory.session.turns import Excerpt, as_many_as_fit, cut_text, excerpt, turns_after


def mark(record_id: str, at_ms: int | None = None, seen: int = 0) -> SessionMark:
    return SessionMark(Harness.AMP, "s", record_id, at_ms, seen, False, "builtin")


def turn(number: int, role: Role = Role.USER, at_ms: int | None = None) -> Turn:
    return Turn(number, role, "x", f"r{number}", at_ms)


def test_a_diff_is_cut_between_its_hunks() -> None:
    hunks = [f"@@ -{n} +{n} @@ def f{n}\n-old {n}\n+new {n} " + "x" * 100 for n in range(40)]
    kept = excerpt("diff --git a/f b/f\n" + "\n".join(hunks), 2_000).text
    head, tail = re.split(r"\n\[… \d+ characters left out …\]\n", kept)
    assert "@@" + head.split("\n@@")[-1] in hunks
    assert tail.startswith("@@ ")
    assert tail.endswith(hunks[-1])


@pytest.mark.parametrize("left", range(4, 40, 7))
def test_of_a_secret_that_is_cut_in_two_nothing_is_kept_p20(left: int) -> None:
    secret, spaces = "ghp_" + "A1b2C3d4" * 4 + "E5f6", " " * (4_000 - left - len("x" + '{"a": "'))
    for name, key in (("Bash", "command"), ("Write", "content"), ("other", "a")):
        assert "ghp" not in tool_call(name, {key: f"x{spaces}{secret}"}).brief
        assert "ghp" not in tool_call(name, {key: f"x{spaces}{' ' * 7}{secret}"}).brief
    told = tool_call("Bash", {"command": f"{'ls; ' * 200}curl https://e.org/{'x' * 100}?t={secret}"}).brief
    assert "curl https://e.org/" in told
    assert "ghp" not in told


@settings(max_examples=80)
@given(parts=st.lists(st.text(max_size=30), max_size=8), max_chars=st.integers(4, 60))
def test_an_excerpt_grown_in_parts_is_that_of_the_whole(parts: list[str], max_chars: int) -> None:
    grown = Excerpt(max_chars)
    for part in parts:
        grown = grown.grown(part)
    whole = "".join(parts)
    assert grown == excerpt(whole, max_chars)
    assert len(grown.head) + len(grown.tail) + grown.clipped_chars == len(whole)
    if len(whole) <= max_chars:
        assert grown.text == whole
    else:
        assert len(grown.head) + len(grown.tail) == max_chars
        assert whole.startswith(grown.head)
        assert whole.endswith(grown.tail)


@settings(max_examples=80)
@given(text=st.text("ab \n", max_size=300), max_chars=st.integers(2, 50))
def test_parts_of_a_text_are_the_text(text: str, max_chars: int) -> None:
    parts = list(cut_text(text, max_chars))
    assert "".join(parts) == text
    assert all(0 < len(part) <= max_chars for part in parts)


def test_turns_after_a_mark_are_those_after_its_record() -> None:
    turns = [turn(1), turn(2), turn(3)]
    assert turns_after(turns, None) == tuple(turns)
    assert turns_after(turns, mark("r2")) == (turns[2],)
    assert turns_after(turns, mark("r3")) == ()


def test_where_the_record_is_gone_the_time_decides_and_without_one_the_number() -> None:
    turns = [turn(1, at_ms=10), turn(2, at_ms=20), turn(3, at_ms=30)]
    assert turns_after(turns, mark("gone", at_ms=20, seen=3)) == (turns[2],)
    assert turns_after(turns, mark("gone", seen=1)) == (turns[1], turns[2])


def test_at_least_one_turn_fits() -> None:
    turns = [Turn(1, Role.USER, "x" * 5_000, "a"), Turn(2, Role.USER, "y", "b")]
    assert as_many_as_fit(turns, 100) == (turns[0],)
    assert as_many_as_fit(turns, 100_000) == tuple(turns)
    assert as_many_as_fit((), 100) == ()


# -- which notes an agent looked at: those that memory printed for it, and those whose files it opened itself ----------


FILE = "/home/dana/memories/topics/staging ports -- topic__ports id__a1b2c3.md"
READ, OPENED, NEITHER = (1, 0), (0, 1), (0, 0)


@pytest.mark.parametrize(
    ("name", "arguments", "use"),
    [
        ("Read", {"file_path": FILE}, OPENED),
        ("Grep", {"pattern": "port", "path": FILE}, OPENED),
        ("shell", {"command": f"bash -lc \"head -20 '{FILE}' | wc -l\""}, OPENED),
        ("Bash", {"command": f"sed -n 1,20p '{FILE}'"}, OPENED),
        # what changes it, or only names it
        ("Write", {"file_path": FILE, "content": "x"}, NEITHER),
        ("delete_file", {"path": FILE}, NEITHER),
        ("Bash", {"command": f"git add '{FILE}'"}, NEITHER),
        ("Bash", {"command": f"sed -i s/a/b/ '{FILE}'"}, NEITHER),
        ("Read", {"file_path": "/srv/id__a1b2c3.txt"}, NEITHER),
        ("Task", {"prompt": f"cat '{FILE}'"}, NEITHER),
        # through memory, which counted it itself; searching and listing is no use
        ("Bash", {"command": "memory read id__a1b2c3"}, READ),
        ("Bash", {"command": "cd /x && memory read --json a1b2c3 | jq .body"}, READ),
        ("shell", {"command": "python -m agent_memory read 'id__a1b2c3'"}, READ),
        ("mcp__memory__read_context", {"id": "id__a1b2c3"}, READ),
        ("agent-memory__read_context", {"id": "id__a1b2c3", "other": 1}, READ),
        ("Bash", {"command": "memory search id__a1b2c3"}, NEITHER),
        ("mcp__memory__search_context", {"query": "id__a1b2c3"}, NEITHER),
    ],
)
def test_a_call_is_a_use_where_it_shows_the_note(name: str, arguments: dict[str, object], use: tuple[int, int]) -> None:
    turn = Turn(1, Role.AGENT, "", "r1", 1000, tool_calls=(tool_call(name, arguments),))
    read, opened = entry_uses([turn])
    assert (len(read), len(opened)) == use
    assert {*read, *opened} <= {"id__a1b2c3"}
