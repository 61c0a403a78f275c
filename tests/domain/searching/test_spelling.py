"""Which words count as slips of another."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.searching.ranking import slips_allowed, slips_of


@pytest.mark.parametrize(
    ("term", "other", "is_slip"),
    [
        ("zebar", "zebra", True),
        ("kubernets", "kubernetes", True),
        ("kubrnets", "kubernetes", False),
        ("kubernetesx", "kubernetes", True),
        ("lokc", "lock", False),
        ("zebra", "zebra", False),
        ("xebra", "zebra", False),
        ("migrati", "migrat", True),
        ("configurati", "configur", True),
        ("utf8x", "utf8", False),
    ],
)
def test_slips(term: str, other: str, is_slip: bool) -> None:
    assert (slips_of(term, [other]) == (other,)) is is_slip


def distance(one: str, other: str) -> int:
    """Optimal string alignment, as it is defined."""
    table = {(i, j): i + j for i in range(len(one) + 1) for j in range(len(other) + 1) if not i or not j}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            cost = int(one[i - 1] != other[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


near_words = st.text("abc", min_size=3, max_size=12)


@given(near_words, near_words)
def test_a_slip_is_within_the_distance_that_its_length_allows(term: str, other: str) -> None:
    found = bool(slips_of(term, [other]))
    is_beginning = len(other) >= 5 and term.startswith(other) and len(term) - len(other) in (1, 2, 3)
    is_near = term != other and term[0] == other[0] and distance(term, other) <= slips_allowed(term)
    assert found == (slips_allowed(term) > 0 and (is_near or is_beginning))


def test_the_nearest_come_first() -> None:
    assert slips_of("kubernetes", ["kubernetxx", "kubernetex"]) == ("kubernetex", "kubernetxx")
