"""What a command says: with `--json` one document on stderr where it fails, and on a terminal what long work is at."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from wcwidth import wcswidth

from agent_memory.cli.console import Console, cut, marked_lines, table_lines
from agent_memory.errors import EntryNotFound
from memory_process import Memory, on_a_terminal

texts = st.lists(st.sampled_from(["a", " ", "東", "👩‍👩‍👧", "e\u0301", "א"]), max_size=40).map("".join)


def test_a_cut_shows_that_something_is_gone_and_halves_no_character() -> None:
    assert cut("東京の倉庫", 10) == "東京の倉庫"
    assert cut("東京の倉庫", 8) == "東京の…"
    assert cut("a東京", 4) == "a東…"


@given(texts, st.integers(1, 60))
def test_a_cut_text_fits(text: str, room: int) -> None:
    assert wcswidth(cut(text, room)) <= room


# -- tables

HEADINGS = ("id", "kind", "title")


@given(st.lists(st.text("ab 東👩‍👩‍👧é", max_size=60), max_size=5), st.integers(1, 80))
def test_no_line_is_wider_than_the_terminal_unless_that_is_very_narrow(titles: list[str], width: int) -> None:
    table = table_lines(HEADINGS, [("id__1", "fact", title) for title in titles], width)
    assert all(wcswidth(line) <= max(width, 33) for line in table)


def test_on_a_narrow_line_columns_give_way_in_their_order() -> None:
    rows = [("id__1", "decision", "A much longer title that goes on and on")]

    def first(width: int) -> str:
        return table_lines(HEADINGS, rows, width, give_way=("kind", "id"))[0]

    assert [first(width).split() for width in (60, 50, 40)] == [["id", "kind", "title"], ["id", "title"], ["title"]]


# -- passages

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@given(
    st.text(alphabet="ab 斑é\U0001f600", max_size=60).map(lambda text: " ".join(text.split())),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=4),
    st.integers(4, 30),
)
def test_every_character_is_shown_once_in_width(text: str, marks: list[tuple[int, int]], width_cells: int) -> None:
    """Also for marks that overlap or leave the text."""
    lines = [_COLOUR.sub("", line) for line in marked_lines(text, sorted(marks), width_cells, colour=True)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(wcswidth(line) <= width_cells for line in lines)
    assert lines == marked_lines(text, [], width_cells, colour=False)


ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")


def test_each_report_takes_the_place_of_the_one_before_and_what_is_said_takes_it_away() -> None:
    err = Terminal()
    console = Console(io.StringIO(), err)
    console.progress("one")
    console.progress("two")
    assert err.getvalue() == f"{ERASE}one\r{ERASE}two\r"
    console.err("done")
    console.err("really")
    assert err.getvalue().endswith(f"two\r{ERASE}done\nreally\n")


def test_a_terminal_that_cannot_erase_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    err = Terminal()
    console = Console(io.StringIO(), err)
    console.progress("one")
    console.err("done")
    assert err.getvalue() == "one\ndone\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_nothing_is_shown_to_a_pipe_or_beside_json(*, as_json: bool) -> None:
    err = Terminal() if as_json else io.StringIO()
    Console(io.StringIO(), err, json=as_json).progress("one")
    assert err.getvalue() == ""


def test_consolidation_counts_its_sessions_on_the_line(home: Path) -> None:
    memory = Memory(home)
    for title in ("One", "Two"):
        memory.captured(title, f"{title} runs at four.")
    seen = on_a_terminal(memory, "consolidate")
    assert "1 of 2: manual" in seen
    assert "2 of 2: manual" in seen
    assert f"{ERASE}2 sessions processed" in seen


# -- what is held until the end


def test_a_failure_with_remarks_before_and_after_is_one_document() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("The config has a key twice.")
    assert console.fail(EntryNotFound("id__a1b2c3")) == 20
    console.warn("The notes are written, but git is not told.")
    assert err.getvalue() == ""
    console.close()
    document = json.loads(err.getvalue())
    assert document["error"]["code"] == "entry-not-found"
    assert document["warnings"] == ["The config has a key twice.", "The notes are written, but git is not told."]


def test_remarks_of_what_went_well_are_lines_and_said_once() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("one")
    console.warn("two")
    console.close()
    console.close()
    assert err.getvalue() == "memory: one\nmemory: two\n"
