from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.disk.json_lite import json_object, scan_json, scan_members

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=5)


@given(values, st.sampled_from([None, 2]))
@settings(max_examples=100)
def test_it_reads_what_json_reads(value: object, indent: int | None) -> None:
    assert scan_json(f" \n{json.dumps(value, indent=indent)}\t") == value


@pytest.mark.parametrize("text", ["", " ", "{", '{"a":1}x', '{"a":1}{"b":2}', "nul", '"\n"', "[1,]", "'a'"])
def test_it_refuses_what_json_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        scan_json(text)


def test_a_depth_bomb_is_an_error_not_a_crash() -> None:
    with pytest.raises(RecursionError):
        scan_json("[" * 200_000)
    assert scan_members('{"a": 1, "b": ' + "[" * 200_000, frozenset("ab")) == {"a": 1}


members = st.recursive(
    st.dictionaries(st.text(), st.text() | st.integers(), max_size=4),
    lambda inner: st.dictionaries(st.text(), st.text() | inner, max_size=4),
    max_leaves=4,
)


@given(members)
@settings(max_examples=100)
def test_it_writes_what_json_writes(document: dict[str, object]) -> None:
    assert json_object(document) == json.dumps(document, ensure_ascii=False)


@given(objects)
@settings(max_examples=100)
def test_the_members_of_a_whole_object_are_all_found(document: dict[str, object]) -> None:
    assert scan_members(json.dumps(document), frozenset(document)) == document


@given(objects, st.integers(0, 200))
@settings(max_examples=100)
def test_the_members_before_a_cut_are_true_ones(document: dict[str, object], cut: int) -> None:
    text = json.dumps(document)[:cut]
    found = scan_members(text, frozenset(document))
    assert found == {key: document[key] for key in found}


def test_only_the_outermost_members_count() -> None:
    text = '{"tool": {"session_id": "wrong"}, "text": "\\"session_id\\": \\"wrong\\"", "session_id": "right", "x": "cut'
    assert scan_members(text, frozenset(["session_id"])) == {"session_id": "right"}


def test_a_number_that_may_go_on_behind_the_cut_does_not_count() -> None:
    assert scan_members('{"a": 1, "b": 12', frozenset("ab")) == {"a": 1}
