"""When two file names are one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis.strategies import characters, lists, text

from agent_memory.domain.text.folded_name import TakenNames, folded_name


@pytest.mark.parametrize(
    ("one", "other"),
    [("Note.md", "nOTE.MD"), ("é.md", "E\u0301.md"), ("Straße.md", "STRASSE.md"), ("K.md", "\u212a.md")],
)
def test_names_that_some_disk_would_not_keep_apart_are_one_p15(one: str, other: str) -> None:
    assert folded_name(one) == folded_name(other)


def test_other_names_are_others() -> None:
    assert len({folded_name(name) for name in ("note.md", "notes.md", "e.md", "é.md")}) == 4


@given(text(max_size=12))
def test_folding_goes_by_nfc_and_casefold_p15(name: str) -> None:
    composed = unicodedata.normalize("NFC", name)
    assert folded_name(name) == unicodedata.normalize("NFC", composed.casefold())
    assert folded_name(folded_name(name)) == folded_name(name)


_names = text(characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6)
_likely = text("aAbKß\u212ae\u0301\u0327\n", min_size=1, max_size=3)


@given(lists(_likely | _names), _likely | _names)
def test_a_name_is_taken_where_one_of_them_folds_to_the_same_p15(taken: list[str], name: str) -> None:
    assert (name in TakenNames(taken)) == (folded_name(name) in set(map(folded_name, taken)))
