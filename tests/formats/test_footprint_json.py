from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.change import FileChange, FileState
from agent_memory.domain.undo_run import Footprint, SectionChange
from agent_memory.errors import StateCorrupt
from agent_memory.formats import bookkeeping_json
from agent_memory.formats.bookkeeping_json import FOOTPRINT, OVER, Step, render_journal
from agent_memory.results import as_result

parse_footprint, parse_journal = as_result(FOOTPRINT.parse), as_result(bookkeeping_json.parse_journal)


states = st.none() | st.builds(FileState, st.binary(max_size=50), st.none() | st.integers(-(2**40), 2**62))
paths = st.text(st.characters(), min_size=1)
texts = st.none() | st.text(st.characters())
footprints = st.builds(
    Footprint,
    st.lists(st.builds(FileChange, paths, states, states)).map(tuple),
    st.lists(st.builds(SectionChange, paths, texts, texts, st.text(), st.booleans())).map(tuple),
)


@settings(max_examples=60)
@given(footprints)
def test_what_is_read_is_what_was_written_p16(footprint: Footprint) -> None:
    assert parse_footprint(FOOTPRINT.render(footprint).encode("utf-8", "backslashreplace"), "f") == Success(footprint)


@settings(max_examples=60)
@given(footprints, st.data())
def test_a_cut_footprint_is_damaged_p6(footprint: Footprint, data: st.DataObject) -> None:
    whole = FOOTPRINT.render(footprint).encode("utf-8", "backslashreplace").rstrip(b"\n")
    cut = parse_footprint(whole[: data.draw(st.integers(0, len(whole) - 1))], "f").failure()
    assert isinstance(cut, StateCorrupt)


FILE = {"path": "topics/a.md", "before": None, "after": {"data": "QQ==", "mtimeNs": None}}
SECTION = {"path": "/h/A.md", "before": None, "after": "x", "separator": "", "created": False}


def text(file: object = FILE, section: object = SECTION) -> bytes:
    return json.dumps({"version": 1, "files": [file], "sections": [section]}).encode()


@pytest.mark.parametrize(
    "change",
    [
        {"path": ""},
        {"path": 1},
        {"before": {"data": "%", "mtimeNs": 1}},
        {"before": {"data": "", "mtimeNs": "x"}},
        {"after": {"data": "", "mtimeNs": True}},
        {"after": {}},
        {"after": []},
        {"more": 1},
    ],
)
def test_each_wrong_file_is_damage_p6(change: dict[str, object]) -> None:
    refused = parse_footprint(text({**FILE, **change}), "f").failure()
    assert isinstance(refused, StateCorrupt)
    assert refused.problems[0].startswith("files[0].")


@pytest.mark.parametrize("change", [{"path": ""}, {"before": 1}, {"separator": None}, {"created": 0}, {"more": 1}])
def test_each_wrong_section_is_damage_p6(change: dict[str, object]) -> None:
    refused = parse_footprint(text(section={**SECTION, **change}), "f").failure()
    assert isinstance(refused, StateCorrupt)
    assert refused.problems[0].startswith("sections[0].")


# -- the journal of a transaction

HASH = "0" * 64
steps = st.builds(
    lambda path, before, number: Step(path, before, None if number is None else HASH, number and f"{number}.new"),
    paths,
    states,
    st.none() | st.integers(1, 99),
)


@settings(max_examples=60)
@given(st.lists(steps).map(tuple))
def test_a_journal_is_read_as_it_was_written(steps: tuple[Step, ...]) -> None:
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
    assert not whole.endswith(OVER)
    assert parse_journal(whole + OVER, "j") == Success(steps)


STEP = {"path": "topics/a.md", "before": None, "afterHash": HASH, "staged": "0.new"}


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
    journal = json.dumps({"version": 1, "steps": [{**STEP, **change}]}).encode()
    assert isinstance(parse_journal(journal, "j").failure(), StateCorrupt)
