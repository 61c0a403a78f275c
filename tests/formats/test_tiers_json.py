from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.vocabulary import TierList
from agent_memory.errors import StateCorrupt
from agent_memory.formats.tiers_json import parse_tiers, render_tiers

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
ids = st.lists(st.from_regex(r"id__[1-9a-km-z]{6}", fullmatch=True), unique=True, max_size=9)


@settings(max_examples=60)
@given(ids, st.integers(0, 9))
def test_what_is_read_is_what_was_written_in_its_order(ids: list[str], hot: int) -> None:
    tiers = TierList(tuple(ids[:hot]), tuple(ids[hot:]))
    assert parse_tiers(render_tiers(tiers), "t") == Success(tiers)


def test_each_id_has_a_line_of_its_own() -> None:
    text = render_tiers(TierList((A, B), (C,))).decode()
    assert text == f'{{\n  "hot": [\n    "{A}",\n    "{B}"\n  ],\n  "warm": [\n    "{C}"\n  ]\n}}\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty; an empty object is {}"),
        ("[]", "the document is a list, expected an object"),
        ("{}", "hot is missing"),
        ('{"hot": []}', "warm is missing"),
        ('{"hot": [], "warm": [], "cold": []}', "cold is unknown, expected hot, warm"),
        ('{"hot": {}, "warm": []}', "hot is an object, expected a list"),
        ('{"hot": ["x"], "warm": []}', "hot[0] is 'x', expected an id like id__a1b2c3"),
        (f'{{"hot": ["{A}"], "warm": [1, "{A}"]}}', "warm[0] is 1, expected text"),
        (f'{{"hot": ["{A}"], "warm": ["{A}"]}}', f"{A} is in it twice"),
        (f'{{"hot": ["{A}", "{A}"], "warm": []}}', f"{A} is in it twice"),
        ('{"hot": [], "hot": [], "warm": []}', "not JSON: the key 'hot' stands twice in one object"),
        ("<<<<<<< ours\n{}", "not JSON: Expecting value at line 1, column 1"),
    ],
)
def test_whatever_else_is_damaged_and_never_empty_p6(text: str, problem: str) -> None:
    refused = parse_tiers(text.encode(), "state/tiers.json").failure()
    assert isinstance(refused, StateCorrupt)
    assert refused.path == "state/tiers.json"
    assert refused.problems[0] == problem
