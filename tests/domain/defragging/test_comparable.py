"""P12: what may be written differently without anything being lost."""

from __future__ import annotations

import pytest

from agent_memory.domain.defragging.information import comparable, said_by, with_iso_dates, without_targets
from agent_memory.domain.entry import MemoryEntry, Meta


@pytest.mark.parametrize(
    ("description", "body", "is_said"),
    [
        ("", "It listens on port 8080.", False),
        ("The port is 8080.", "The port\nis 8080.", False),  # derived from it
        ("It listens on…", "It listens on port 8080.", False),  # the beginning of it
        ("Where it listens", "It listens on port 8080.", True),
        ("Set MAX", "Set MAPS to 5.", True),
    ],
)
def test_a_description_is_part_of_what_is_said_unless_the_body_says_it(
    description: str, body: str, is_said: bool
) -> None:
    entry = MemoryEntry(Meta("id__aaaaaa", "Port", 1, 1, description), body)
    assert said_by(entry) == (f"Port\n{description}\n{body}" if is_said else f"Port\n{body}")


def test_of_a_link_its_label_is_left() -> None:
    assert without_targets("a [[id__bbbbbb|one]] b [[id__cccccc]] c [[id__dddddd|two]]") == "a one b  c two"


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("See src/app/main.py.", "See src/app/main.py ."),
        ("See src/app/, then a/b", "See src/app/ , then a/b"),
        ("(in a/b).", "(in a/b)."),
        ("on a/X!", "on a/X !"),
        ("1. NEVER `NOT 1.` DO\n 22) ALWAYS", " never `NOT 1.` do\n  always"),
        ("since 2026/02/13 or 2026/2/13", "since 2026-02-13 or 2026/2/13"),
    ],
)
def test_ends_of_sentences_numbers_of_lists_shouting_and_dates_are_made_the_same(text: str, compared: str) -> None:
    assert comparable(text) == compared


def test_dates_have_one_spelling() -> None:
    assert (
        with_iso_dates("May 3rd, 2026; 3 de março de 2026; on 2026/05/03.") == "2026-05-03; 2026-03-03; on 2026-05-03."
    )


@pytest.mark.parametrize("text", ["ſeptember 3, 2026", "3 aprİl 2026", "3 aprıl 2026"])
def test_a_letter_that_only_folds_into_one_of_a_month_makes_no_date(text: str) -> None:
    assert with_iso_dates(text) == text
