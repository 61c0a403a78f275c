from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.footprint import Footprint, SectionChange
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.errors import StateCorrupt
from agent_memory.formats.footprint_json import parse_footprint, render_footprint

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
    assert parse_footprint(render_footprint(footprint), "f") == Success(footprint)


@settings(max_examples=60)
@given(footprints, st.data())
def test_a_cut_footprint_is_damaged_p6(footprint: Footprint, data: st.DataObject) -> None:
    whole = render_footprint(footprint).rstrip(b"\n")
    cut = parse_footprint(whole[: data.draw(st.integers(0, len(whole) - 1))], "f").failure()
    assert isinstance(cut, StateCorrupt)


FILE = {"path": "topics/a.md", "before": None, "after": {"data": "QQ==", "mtimeNs": None}}
SECTION = {"path": "/h/A.md", "before": None, "after": "x", "separator": "", "created": False}


def text(file: object = FILE, section: object = SECTION) -> bytes:
    return json.dumps({"version": 1, "files": [file], "sections": [section]}).encode()


def test_the_footprint_that_the_damaged_ones_differ_from_is_whole() -> None:
    assert parse_footprint(text(), "f") == Success(
        Footprint(
            (FileChange("topics/a.md", None, FileState(b"A")),), (SectionChange("/h/A.md", None, "x", "", False),)
        )
    )


@pytest.mark.parametrize(
    "change",
    [
        {"path": ""},
        {"path": 1},
        {"before": {"data": "%", "mtimeNs": 1}},
        {"before": {"data": "", "mtimeNs": "x"}},
        {"after": {"data": "", "mtimeNs": True}},
        {"after": {"data": ""}},
        {"after": []},
        {"more": 1},
    ],
)
def test_each_wrong_file_is_damage_p6(change: dict[str, object]) -> None:
    refused = parse_footprint(text({**FILE, **change}), "f").failure()
    assert refused == StateCorrupt("f", ("files[0] is not a change of a file",))


@pytest.mark.parametrize("change", [{"path": ""}, {"before": 1}, {"separator": None}, {"created": 0}, {"more": 1}])
def test_each_wrong_section_is_damage_p6(change: dict[str, object]) -> None:
    refused = parse_footprint(text(section={**SECTION, **change}), "f").failure()
    assert refused == StateCorrupt("f", ("sections[0] is not a change of a section",))


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"\xff", b"[" * 9999, b'{"version": 2, "files": [], "sections": []}', b'{"version": 1}'],
)
def test_what_is_no_footprint_is_damage_p6(data: bytes) -> None:
    assert isinstance(parse_footprint(data, "f").failure(), StateCorrupt)
