from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.text.salience import statements


def test_sentences_and_list_items_come_one_by_one_without_their_marks() -> None:
    text = "# Builds\n\n- Run the tests. They are slow!\n2. [ ] Why?\n> quoted"
    assert statements(text) == ("Builds", "Run the tests.", "They are slow!", "Why?", "quoted")


def test_what_follows_a_colon_or_a_dash_stands_alone() -> None:
    assert statements("For builds: run make; use tabs — never spaces") == (
        "For builds:",
        "run make;",
        "use tabs",
        "never spaces",
    )


def test_a_dash_after_a_stop_is_no_part_of_what_follows() -> None:
    assert statements("It is so. — Always run make") == ("It is so.", "Always run make")


@pytest.mark.parametrize("piece", [" ", "\t", "; ", "! ", '."', "— ", "- "])
def test_long_repetitions_are_read_to_their_end(piece: str) -> None:
    """An expression that looks ahead from each place of a long run would not come to its end."""
    found = statements(f"Run make{piece * 300_000}always")
    assert (found[0][:8], found[-1][-6:]) == ("Run make", "always")


def test_numbers_versions_and_times_are_not_cut() -> None:
    assert statements("At 14:30 version 1.2.3 was out") == ("At 14:30 version 1.2.3 was out",)


def test_lines_of_marks_alone_are_no_statement() -> None:
    assert statements("---\n\n***\n") == ()


@settings(deadline=None)
@given(st.text())
def test_every_letter_is_in_a_statement(text: str) -> None:
    found = "".join(statements(text))
    assert sorted(c for c in found if c.isalpha()) == sorted(c for c in text if c.isalpha())
