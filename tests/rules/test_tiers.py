"""Tiers: how strongly a note competes, from proposed tiers to those that hold, and back again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import (
    GLOBAL_SCOPE,
    Importance,
    Kind,
    Meta,
    Origin,
    Sensitivity,
    Tier,
    TierList,
    Usage,
    standing_tiers,
)
from agent_memory.rules.change import SectionBudget
from agent_memory.rules.tiers import (
    HEADING_CHARS,
    Resolved,
    TierFacts,
    resolve_tiers,
    score,
    tier_facts,
)
from agent_memory.store.reversal import reverse_tiers
from agent_memory.text.instants import DAY_MS

LAMP, KITE = "github.com/ada/lamp", "github.com/ada/kite"
ROOM = SectionBudget(hot_chars=300, warm_lines=3)


def tiers(hot: str, warm: str = "") -> TierList:
    return TierList(tuple(hot), tuple(warm))


def fact(
    name: str,
    *,
    score: float = 1.0,
    size: int = 100,
    best: Tier = Tier.HOT,
    scope: str = GLOBAL_SCOPE,
    pinned: bool = False,
    promoted: bool = False,
) -> TierFacts:
    """An entry that takes `size` characters where it is shown whole."""
    promoted_by = "person" if promoted or pinned else None
    meta = Meta(name, "", 1, 1, scope=scope, pinned=pinned, promoted_by=promoted_by)
    return TierFacts(meta, size - HEADING_CHARS, best, score)


def resolved(proposed: TierList | None, current: TierList, facts: Sequence[TierFacts]) -> Resolved:
    return resolve_tiers(proposed, current, {each.meta.id: each for each in facts}, ROOM)


@pytest.mark.parametrize(
    ("best", "meta", "reason"),
    [
        (None, {}, "it is not a live note"),
        (Tier.COLD, {"origin": Origin.EXTERNAL}, "only a tool, a page or a file said it"),
        (Tier.COLD, {"sensitivity": Sensitivity.SECRET}, "it is secret"),
        (Tier.COLD, {"withheld": True}, "nobody has approved it yet"),
        (Tier.COLD, {}, "it has expired"),
        (Tier.COLD, {"origin": Origin.AGENT}, "it has expired"),
        (Tier.WARM, {"origin": Origin.AGENT}, "it may be warm but not hot: an agent concluded it"),
    ],
)
def test_unknown_and_ineligible_ids_are_dropped_with_the_reason_p19(
    best: Tier | None, meta: dict[str, Any], reason: str
) -> None:
    noted = fact("x", best=best or Tier.COLD)
    known = [] if best is None else [evolve(noted, meta=evolve(noted.meta, **meta))]
    found = resolved(tiers("ax"), TierList(), [fact("a"), *known])
    assert found.tiers == tiers("a", "x" if best is Tier.WARM else "")
    (dropped,) = found.dropped
    assert (dropped.subject, dropped.reasons[0][: len(reason)]) == ("x", reason)


def test_pins_fit_though_there_is_no_room_with_a_warning_p13() -> None:
    facts = [fact("p", size=200, pinned=True), fact("q", size=200, pinned=True), fact("a", size=90)]
    found = resolved(tiers("a"), tiers("ap"), facts)
    assert found.tiers == tiers("pq", "a")
    assert "300 characters" in found.warnings[0]


def test_pins_of_one_repository_do_not_push_what_is_global_out_of_the_others() -> None:
    facts = [fact("p", size=400, pinned=True, scope=LAMP), fact("g"), fact("l", scope=LAMP)]
    found = resolved(tiers("gl"), TierList(), facts)
    assert found.tiers == tiers("pg", "l")
    assert LAMP in found.warnings[0]


def test_who_is_hot_stays_while_there_is_room_unless_it_is_to_be_warm() -> None:
    facts = [fact("a"), fact("b"), fact("n")]
    assert resolved(tiers("bn"), tiers("ab"), facts).tiers == tiers("abn")
    assert resolved(tiers("bn", "a"), tiers("ab"), facts).tiers == tiers("bn", "a")


def test_the_weakest_of_what_is_left_out_makes_room_and_as_few_as_possible() -> None:
    facts = [fact("a", score=1), fact("b", score=2, size=60), fact("c", score=3), fact("n", size=140)]
    assert resolved(tiers("n"), tiers("abc"), facts).tiers == tiers("bcn", "a")
    assert resolved(None, tiers("abc"), [evolve(each, body_chars=20) for each in facts]).tiers == tiers("bc", "a")


def test_what_was_promoted_counts_as_proposed_once_and_defrag_may_not_hide_it() -> None:
    facts = [fact("a"), fact("p", promoted=True)]
    for proposed in (None, tiers("a")):
        assert resolved(proposed, tiers("a"), facts).tiers.hot == ("a", "p")
    assert resolved(tiers("a"), tiers("ap"), facts).tiers == tiers("ap")
    moved = resolved(tiers("a", "p"), tiers("ap"), facts).tiers
    assert moved == resolved(tiers("a"), moved, facts).tiers == tiers("a", "p")


# -- what holds for every resolution ----------------------------------------------------------------------------------

NAMES = "abcdefghij"


@frozen
class Case:
    proposed: TierList | None
    current: TierList
    facts: dict[str, TierFacts]
    budget: SectionBudget

    def resolved(self, facts: dict[str, TierFacts] | None = None) -> Resolved:
        return resolve_tiers(self.proposed, self.current, facts or self.facts, self.budget)


ENTRIES = st.lists(
    st.builds(
        fact,
        st.sampled_from(NAMES),
        score=st.sampled_from((1.0, 1.1, 1.25, 1.5, 2.0, 4.0)),
        size=st.integers(80, 220),
        best=st.sampled_from((Tier.HOT, Tier.HOT, Tier.WARM, Tier.COLD)),
        scope=st.sampled_from((GLOBAL_SCOPE, GLOBAL_SCOPE, LAMP, KITE)),
        pinned=st.sampled_from((False, False, False, True)),
        promoted=st.booleans(),
    ),
    max_size=10,
).map(lambda found: {each.meta.id: each for each in found})
NAMED = st.text(NAMES, max_size=8)
TIER_LISTS = st.builds(tiers, NAMED, NAMED)
CASES = st.builds(
    Case,
    st.none() | TIER_LISTS,
    TIER_LISTS,
    ENTRIES,
    st.builds(SectionBudget, st.integers(0, 600), st.integers(0, 4)),
)


def of_any(test: Callable[[Case], None]) -> Callable[[], None]:
    return settings(max_examples=100)(given(CASES)(test))


@of_any
def test_pins_are_hot_tiers_are_eligible_and_no_id_is_twice_p13_p19(case: Case) -> None:
    found = case.resolved().tiers
    assert {id for id, each in case.facts.items() if each.meta.pinned and each.best is Tier.HOT} <= set(found.hot)
    assert all(case.facts[id].best is Tier.HOT for id in found.hot)
    assert all(case.facts[id].best is not Tier.COLD for id in found.warm)
    everything = (*found.hot, *found.warm)
    assert len(everything) == len(set(everything))


@of_any
def test_every_section_fits_but_for_pins(case: Case) -> None:
    found, facts = case.resolved().tiers, case.facts
    for scope in (LAMP, KITE):
        shown = [facts[id] for id in found.hot if facts[id].meta.scope in (GLOBAL_SCOPE, scope)]
        if sum(each.whole_chars for each in shown if each.meta.pinned) <= case.budget.hot_chars:
            assert sum(each.whole_chars for each in shown) <= case.budget.hot_chars
        else:
            assert all(each.meta.pinned or each.meta.scope == GLOBAL_SCOPE for each in shown)
        lines = [id for id in found.warm if facts[id].meta.scope in (GLOBAL_SCOPE, scope)]
        assert len(lines) <= case.budget.warm_lines


@of_any
def test_the_same_again_changes_nothing_and_who_stays_keeps_its_place(case: Case) -> None:
    once = case.resolved()
    for proposed in (None, once.tiers):
        assert evolve(case, proposed=proposed, current=once.tiers).resolved().tiers == once.tiers
    stayed = [id for id in dict.fromkeys(case.current.hot) if id in once.tiers.hot]
    assert list(once.tiers.hot[: len(stayed)]) == stayed


@of_any
def test_what_is_hot_leaves_only_for_what_is_proposed_or_where_it_is_to_be_warm(case: Case) -> None:
    settled = evolve(case, proposed=None).resolved().tiers
    found = evolve(case, current=settled).resolved().tiers
    for id in set(settled.hot).difference(found.hot):
        assert case.proposed is not None
        newcomers = set(found.hot).difference(settled.hot)
        assert id in case.proposed.warm or newcomers.intersection(case.proposed.hot)


@of_any
def test_neither_the_order_of_entries_nor_those_that_nothing_names_or_marks_make_a_difference(case: Case) -> None:
    found = case.resolved()
    shuffled = list(case.facts.items())
    Random(0).shuffle(shuffled)
    assert case.resolved(dict(shuffled)) == found
    lists = [case.current] if case.proposed is None else [case.proposed, case.current]
    named = {id for each in lists for id in (*each.hot, *each.warm)}
    concerned = {
        id: each
        for id, each in case.facts.items()
        if id in named or each.meta.pinned or each.meta.promoted_by is not None
    }
    assert resolve_tiers(case.proposed, case.current, concerned, case.budget) == found


# -- between two tierings ---------------------------------------------------------------------------------------------


def test_what_a_person_vouches_for_is_hot_without_a_tiering_and_defrag_may_move_what_is_not_pinned_p13() -> None:
    plain, pinned = Meta("plain", "t", 1, 1), Meta("pinned", "t", 9, 9, pinned=True)
    promoted = Meta("promoted", "t", 5, 5, promoted_by="person")
    live = [plain, pinned, promoted, evolve(pinned, id="secret", sensitivity=Sensitivity.SECRET, promoted_by="person")]
    assert standing_tiers(TierList(), live) == TierList(("promoted", "pinned"))
    assert standing_tiers(TierList(("plain",)), live) == TierList(("plain", "promoted", "pinned"))
    moved = TierList((), ("promoted", "pinned", "plain"))
    assert standing_tiers(moved, live[:3]) == TierList(("pinned",), ("promoted", "plain"))


# -- an undo ----------------------------------------------------------------------------------------------------------


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
def test_only_what_moved_goes_back(now: TierList, before: TierList, after: TierList, expected: TierList) -> None:
    assert reverse_tiers(now, before, after) == expected


DIVIDED = st.tuples(st.permutations("abcdef"), st.integers(0, 6), st.integers(0, 6)).map(
    lambda drawn: TierList(tuple(drawn[0][: min(drawn[1:])]), tuple(drawn[0][min(drawn[1:]) : max(drawn[1:])]))
)


@settings(max_examples=80)
@given(DIVIDED, DIVIDED, DIVIDED)
def test_each_entry_is_in_one_tier_most_in_theirs_p16(now: TierList, before: TierList, after: TierList) -> None:
    for present in (now, after):  # after: with no change since
        reversed_ = reverse_tiers(present, before, after)
        ids = (*reversed_.hot, *reversed_.warm)
        assert len(ids) == len(set(ids))
        for id in "abcdef":
            moved = before.of(id) is not after.of(id) and present.of(id) is after.of(id)
            assert reversed_.of(id) is (before if moved else present).of(id)


# -- scores -----------------------------------------------------------------------------------------------------------

NOW = 2_000 * DAY_MS
META = Meta("id__a1b2c3", "Ports", NOW, NOW)
UNREAD = Usage(0, None)


def test_importance_use_recency_origin_and_a_pin_count() -> None:
    base = score(META, UNREAD, NOW)
    assert score(evolve(META, importance=Importance.HIGH), UNREAD, NOW) == 2 * base
    assert score(META, Usage(40, NOW), NOW) > base
    assert score(evolve(META, updated_at_ms=NOW - 90 * DAY_MS), UNREAD, NOW) < base
    assert score(evolve(META, origin=Origin.AGENT), UNREAD, NOW) < base
    assert score(evolve(META, pinned=True), UNREAD, NOW) > 1_000


def test_what_a_person_prefers_does_not_age() -> None:
    years = NOW + 900 * DAY_MS
    for kind in (Kind.PREFERENCE, Kind.CONVENTION):
        said = evolve(META, kind=kind)
        concluded = evolve(said, origin=Origin.AGENT)
        for meta, ages in ((said, False), (concluded, True), (evolve(concluded, promoted_by="person"), False)):
            assert (score(meta, UNREAD, years) < score(meta, UNREAD, NOW)) is ages


@settings(max_examples=50)
@given(st.integers(0, 1_000), st.integers(0, 3_000), st.integers(0, 3_000))
def test_it_does_not_swing_with_one_read_or_a_few_days(count: int, age_days: int, read_days: int) -> None:
    meta = evolve(META, updated_at_ms=NOW - age_days * DAY_MS)
    usage = Usage(count, NOW - read_days * DAY_MS)
    today = score(meta, usage, NOW)
    assert 0 < today <= score(meta, evolve(usage, count=count + 1), NOW) < 1.25 * today
    in_a_week = score(meta, usage, NOW + 7 * DAY_MS)
    assert in_a_week <= today < 1.25 * in_a_week


def test_a_clock_that_was_set_back_and_odd_counts_do_no_harm_p24() -> None:
    assert score(META, Usage(-5, NOW + 900 * DAY_MS), NOW - 900 * DAY_MS) == score(META, UNREAD, NOW)


def test_what_has_expired_is_cold_unless_pinned() -> None:
    expired = evolve(META, expires_at_ms=NOW)
    for meta, now, best in (
        (META, NOW, Tier.HOT),
        (expired, NOW - 1, Tier.HOT),
        (expired, NOW, Tier.COLD),
        (evolve(expired, pinned=True), NOW, Tier.HOT),
    ):
        assert tier_facts(meta, 100, UNREAD, now).best is best
