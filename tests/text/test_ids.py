"""Ids and sets of them. The known answers were computed with openssl and perl's big integers, not with this package."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.text.ids import ID_PATTERN, IdSet, is_id, mint_id

KNOWN = [
    ("xstate guard patterns", 1770990605123, "id__hs3B4a", "id__AxfeRM"),
    ("Café", 0, "id__ShWpc2", "id__SiN5VF"),
    ("untitled", 1, "id__nNFJh1", "id__bweykT"),
]


@pytest.mark.parametrize(("title", "created_at_ms", "first", "second"), KNOWN)
def test_an_id_is_the_documented_function_of_title_and_time(
    title: str, created_at_ms: int, first: str, second: str
) -> None:
    assert mint_id(title, created_at_ms, frozenset()) == first
    assert mint_id(title, created_at_ms, {first.casefold()}) == second


def test_a_title_in_either_normal_form_gives_the_same_id() -> None:
    assert mint_id("Cafe\u0301", 0, frozenset()) == mint_id("Caf\u00e9", 0, frozenset())


@given(st.text(), st.integers(min_value=0), st.integers(min_value=1, max_value=5))
def test_ids_minted_one_after_the_other_never_repeat_p15(title: str, created_at_ms: int, number: int) -> None:
    taken: set[str] = set()
    for _ in range(number):
        minted = mint_id(title, created_at_ms, taken)
        assert is_id(minted)
        assert minted.casefold() not in taken
        taken.add(minted.casefold())


@pytest.mark.parametrize("text", ["id__a1b2c3", "id__111111", "id__zzzzzz", "id__oxd123"])
def test_six_base58_digits_after_the_prefix_are_an_id(text: str) -> None:
    assert is_id(text)
    assert re.fullmatch(ID_PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id__",
        "a1b2c3",
        "id__a1b2c",
        "id__a1b2c34",
        "id__a1b2c0",
        "id__a1b2cO",
        "id__a1b2cI",
        "id__a1b2cl",
        "ID__a1b2c3",
        "id_a1b2c3",
        "id__a1b2c3\n",
        " id__a1b2c3",
        "id__a1b2c³",
        "../id__a1b2c3",
        "id__a/b2c3",
    ],
)
def test_anything_else_is_no_id_p21(text: str) -> None:
    assert not is_id(text)


@settings(max_examples=40)
@given(st.lists(st.text(max_size=4), max_size=60))
def test_it_is_a_set(ids: list[str]) -> None:
    held, reference = IdSet(), set[str]()
    for id in ids:
        assert held.add(id) is (id not in reference)
        reference.add(id)
    assert len(held) == len(reference)
    assert all(id in held for id in reference)
    assert "none of them" not in held
