from __future__ import annotations

from agent_memory.domain.vocabulary import Tier, TierList

A, B, C, D, E = (f"id__aaaaa{n}" for n in range(1, 6))


def test_what_was_not_seen_stays_where_it_is() -> None:
    current = TierList((A, B), (C, D))
    proposed = TierList((C,), (A, E))
    merged = proposed.where_unseen(current, frozenset({A, C, E}))
    assert merged == TierList((C, B), (A, E, D))
    assert proposed.where_unseen(current, frozenset({A, B, C, D, E})) == proposed


def test_an_unseen_entry_that_is_proposed_by_chance_does_not_move() -> None:
    assert TierList((A,), ()).where_unseen(TierList((), (A,)), frozenset()) == TierList((), (A,))


def test_what_is_in_neither_list_is_cold() -> None:
    assert [TierList((A,), (B,)).of(id) for id in (A, B, C)] == [Tier.HOT, Tier.WARM, Tier.COLD]
