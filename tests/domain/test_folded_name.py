"""When two file names are one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis.strategies import text

from agent_memory.domain.text.file_name import folded_name


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
