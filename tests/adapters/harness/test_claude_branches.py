"""Which branches of a conversation were rewound away."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.harness.claude_code import Branches


def abandoned(*records: tuple[str, str | None, bool]) -> set[str]:
    """Ids of the records (`id, parent, is a prompt`) in abandoned branches."""
    branches = Branches()
    owners = {id: branches.note(id, parent, at, begins) for at, (id, parent, begins) in enumerate(records)}
    return {id for id, branch in owners.items() if branch in branches.abandoned()}


def test_a_prompt_given_instead_of_another_abandons_it_with_what_grew_from_it() -> None:
    assert abandoned(("a", None, False), ("p", "a", True), ("q", "p", False), ("r", "a", True)) == {"p", "q"}


def test_prompts_in_a_row_abandon_nothing() -> None:
    assert abandoned(("p", None, True), ("q", "p", True), ("r", "q", True)) == set()


def test_first_prompts_without_a_parent_abandon_nothing() -> None:
    assert abandoned(("p", None, True), ("q", None, True)) == set()


def test_a_branch_taken_up_again_is_not_abandoned() -> None:
    assert abandoned(("a", None, False), ("p", "a", True), ("r", "a", True), ("s", "p", False)) == set()


def test_a_rewind_inside_an_abandoned_branch_is_abandoned_with_it() -> None:
    records = (
        ("a", None, False),
        ("p", "a", True),
        ("q", "p", True),
        ("r", "p", True),
        ("s", "a", True),
        ("t", "s", False),
    )
    assert abandoned(*records) == {"p", "q", "r"}


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(-1, 8), st.booleans()), max_size=20))
def test_the_last_record_is_never_abandoned(steps: list[tuple[int, int, bool]]) -> None:
    branches, last = Branches(), -1
    for at, (id, parent, begins) in enumerate(steps):
        last = branches.note(f"{id}-{at}", f"{parent}-{at - 1}" if parent >= 0 else None, at, begins)
    assert last not in branches.abandoned()


@pytest.mark.large
def test_parents_far_back_are_forgotten_and_memory_stays_bounded() -> None:
    """P25"""
    branches = Branches()
    for at in range(70_000):
        branches.note(f"r{at}", f"r{at - 1}" if at else None, at, True)
    branches.forget()
    assert branches.note("next", "r69999", 70_000, False) == -1
    assert branches.abandoned() == frozenset()
