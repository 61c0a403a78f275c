from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Success

from agent_memory.domain.queue import Trouble
from agent_memory.formats.queue_json import parse_troubles, render_troubles

_counts = st.integers(0, 10**15)
troubles = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.builds(Trouble, _counts, _counts, st.none() | _counts, _counts, st.text(), st.text(), st.text()),
    max_size=4,
)


@given(troubles)
@settings(max_examples=80)
def test_troubles_read_back_the_same_whatever_was_said(some: dict[str, Trouble]) -> None:
    text = render_troubles(some).encode("utf-8", "backslashreplace").decode()
    assert parse_troubles(text) == Success(some)


def test_equal_troubles_give_equal_bytes() -> None:
    one, two = Trouble(attempts=1), Trouble(timeouts=2)
    assert render_troubles({"b": two, "a": one}) == render_troubles({"a": one, "b": two})
    assert '"timeouts"' not in render_troubles({"a": one})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("{}", "version is missing"),
        ('{"version": 1}', "troubles is missing"),
        ('{"version": 2, "troubles": {}}', "version is 2, expected 1"),
        ('{"version": 1, "troubles": null}', "troubles is null, expected an object"),
        ('{"version": 1, "troubles": {"k": 3}}', "troubles['k'] is 3, expected an object"),
        (
            '{"version": 1, "troubles": {"k": {"attempts": "1"}}}',
            "troubles['k'].attempts is '1', expected a whole number",
        ),
        ('{"version": 1, "troubles": {"k": {"attempts": -1}}}', "expected a whole number from 0"),
        ('{"version": 1, "troubles": {"k": {"attempts": true}}}', "expected a whole number from 0"),
        ('{"version": 1, "troubles": {"k": {"code": 1}}}', "troubles['k'].code is 1, expected text"),
        ('{"version": 1, "troubles": {"k": {"tries": 1}}}', "troubles['k'].tries is unknown"),
    ],
)
def test_a_damaged_file_is_named_as_such(text: str, problem: str) -> None:
    assert problem in parse_troubles(text).failure()[0]
