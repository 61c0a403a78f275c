from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.undo_run import reverse_tiers
from agent_memory.domain.vocabulary import TierList

tier_lists = st.permutations("abcdef").flatmap(
    lambda ids: st.tuples(st.integers(0, 6), st.integers(0, 6)).map(
        lambda cuts: TierList(tuple(ids[: min(cuts)]), tuple(ids[min(cuts) : max(cuts)]))
    )
)


def tiers(hot: str, warm: str = "") -> TierList:
    return TierList(tuple(hot), tuple(warm))


@pytest.mark.parametrize(
    ("now", "before", "after", "expected"),
    [
        (tiers("mc"), tiers("ac", "bd"), tiers("mc"), tiers("ac", "bd")),  # nothing since
        (tiers("xmc"), tiers("ac", "bd"), tiers("mc"), tiers("axc", "bd")),  # a newcomer stays
        (tiers("c", "m"), tiers("ac"), tiers("mc"), tiers("ac", "m")),  # moved again since: it stays there
        (tiers("cb"), tiers("abc"), tiers("bc"), tiers("acb")),  # their order of today stays
        (tiers("c"), tiers("cab"), tiers("c"), tiers("cab")),  # what comes back follows what it followed
        (tiers("", "a"), tiers("a"), tiers("", "a"), tiers("a")),  # from warm to hot again
        (tiers("ab"), tiers("ab"), tiers("ba"), tiers("ab")),  # order alone is no move
        (tiers("z"), tiers(""), tiers(""), tiers("z")),
    ],
)
def test_only_what_moved_and_stayed_goes_back(
    now: TierList, before: TierList, after: TierList, expected: TierList
) -> None:
    assert reverse_tiers(now, before, after) == expected


@settings(max_examples=80)
@given(tier_lists, tier_lists)
def test_with_no_change_since_every_entry_has_its_former_tier_p16(before: TierList, after: TierList) -> None:
    reversed_ = reverse_tiers(after, before, after)
    assert {id: reversed_.of(id) for id in "abcdef"} == {id: before.of(id) for id in "abcdef"}


@settings(max_examples=80)
@given(tier_lists, tier_lists, tier_lists)
def test_each_entry_is_in_one_tier_and_those_that_did_not_move_stay_in_theirs(
    now: TierList, before: TierList, after: TierList
) -> None:
    reversed_ = reverse_tiers(now, before, after)
    ids = (*reversed_.hot, *reversed_.warm)
    assert len(ids) == len(set(ids))
    for id in "abcdef":
        moved = before.of(id) is not after.of(id) and now.of(id) is after.of(id)
        assert reversed_.of(id) is (before if moved else now).of(id)
