from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.recording.file_change import FileState
from agent_memory.errors import StateCorrupt
from agent_memory.formats.journal_json import OVER, Step, is_over, parse_journal, render_journal

HASH = "0" * 64
states = st.builds(FileState, st.binary(max_size=50), st.integers(0, 2**62))
steps = st.builds(
    lambda path, before, number: Step(path, before, None if number is None else HASH, number and f"{number}.new"),
    st.text(st.characters(), min_size=1),
    st.none() | states,
    st.none() | st.integers(1, 99),
)


@settings(max_examples=60)
@given(st.lists(steps).map(tuple))
def test_what_is_read_is_what_was_written(steps: tuple[Step, ...]) -> None:
    assert parse_journal(render_journal(steps), "j") == Success(steps)


@settings(max_examples=60)
@given(st.lists(steps, min_size=1).map(tuple), st.data())
def test_a_cut_journal_is_damaged_p6(steps: tuple[Step, ...], data: st.DataObject) -> None:
    whole = render_journal(steps)
    cut = parse_journal(whole[: data.draw(st.integers(0, len(whole) - 1))], "j").failure()
    assert isinstance(cut, StateCorrupt)


@settings(max_examples=60)
@given(st.lists(steps).map(tuple))
def test_a_journal_is_over_once_it_is_marked_and_says_the_same(steps: tuple[Step, ...]) -> None:
    whole = render_journal(steps)
    assert (is_over(whole), is_over(whole + OVER)) == (False, True)
    assert parse_journal(whole + OVER, "j") == Success(steps)


WHOLE = {"path": "topics/a.md", "before": None, "afterHash": HASH, "staged": "0.new"}


def test_the_journal_that_the_damaged_ones_differ_from_is_whole() -> None:
    journal = json.dumps({"version": 1, "steps": [WHOLE]}).encode()
    assert parse_journal(journal, "j") == Success((Step("topics/a.md", None, HASH, "0.new"),))


@pytest.mark.parametrize(
    "change",
    [
        {"path": ""},
        {"path": 1},
        {"before": {"data": "%", "mtimeNs": 1}},
        {"before": {"data": "", "mtimeNs": "x"}},
        {"before": []},
        {"afterHash": "xyz"},
        {"afterHash": None},
        {"staged": "../../x"},
        {"staged": None},
        {"more": 1},
    ],
)
def test_each_wrong_step_is_damage_p6(change: dict[str, object]) -> None:
    journal = json.dumps({"version": 1, "steps": [{**WHOLE, **change}]}).encode()
    assert isinstance(parse_journal(journal, "j").failure(), StateCorrupt)


@pytest.mark.parametrize(
    "journal",
    [b"", b"null", b"[]", b"\xff", b"[" * 9999, b'{"version": 2, "steps": []}', b'{"version": 1, "steps": 1}'],
)
def test_what_is_no_journal_is_damage_p6(journal: bytes) -> None:
    assert isinstance(parse_journal(journal, "j").failure(), StateCorrupt)
