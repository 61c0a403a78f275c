from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.text.ids import slug_beginning, slug_of


@pytest.mark.parametrize(
    "id", ["7c9e6679-7425-40de-944b-e07fc1f90ae7", "T-5928a90d-d53b-488f-a829-4e36442142ee", "rollout.2026_x"]
)
def test_the_ids_of_harnesses_stay_as_they_are(id: str) -> None:
    assert slug_of(id) == id


@settings(max_examples=100)
@given(st.text())
def test_any_text_gives_one_plain_short_name_p21(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,112}", slug_of(text))


@settings(max_examples=100)
@given(st.text(max_size=6), st.text(max_size=6))
def test_two_texts_never_share_a_name_even_where_case_is_ignored_p21(one: str, other: str) -> None:
    assert (slug_of(one).casefold() == slug_of(other).casefold()) == (one == other)


@settings(max_examples=200)
@given(st.text(max_size=12) | st.text("aB-._/é", max_size=120), st.text(max_size=12) | st.text("ab", max_size=120))
def test_a_slug_begins_as_the_beginning_of_its_text_does(beginning: str, rest: str) -> None:
    assert slug_of(beginning + rest).startswith(slug_beginning(beginning))


def test_the_beginning_of_a_slug_tells_sessions_apart() -> None:
    assert slug_beginning("5f2c-1") == "5f2c-1"
    assert slug_beginning("ses_aB") == "ses_aB"
    assert slug_beginning("T-59") == "T-59"
