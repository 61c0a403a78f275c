"""From proposed tiers to the tiers that hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.domain.entry import Meta
from agent_memory.domain.section import SectionBudget
from agent_memory.domain.tiering.resolve import Resolved, resolve_tiers
from agent_memory.domain.tiering.score import CLEARLY_BETTER, HEADING_CHARS, TierFacts
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Origin, Sensitivity, Tier, TierList

LAMP = "github.com/ada/lamp"
KITE = "github.com/ada/kite"
ROOM = SectionBudget(hot_chars=300, warm_lines=3)


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


def known(*facts: TierFacts) -> dict[str, TierFacts]:
    return {each.meta.id: each for each in facts}


def resolved(
    proposed: TierList | None,
    current: TierList,
    facts: Sequence[TierFacts],
    budget: SectionBudget = ROOM,
    omitted: Mapping[str, int] | None = None,
) -> Resolved:
    return resolve_tiers(proposed, current, known(*facts), budget, omitted or {})


class TestWhoMayBeShown:
    def test_unknown_and_ineligible_ids_are_dropped_with_the_reason_p19(self) -> None:
        facts = [fact("a"), fact("w", best=Tier.WARM), fact("c", best=Tier.COLD), fact("s", best=Tier.COLD)]
        facts[2] = evolve(facts[2], meta=evolve(facts[2].meta, origin=Origin.EXTERNAL))
        facts[3] = evolve(facts[3], meta=evolve(facts[3].meta, sensitivity=Sensitivity.SECRET))
        found = resolved(TierList(("a", "w", "c", "zz"), ("s",)), TierList(), facts)
        assert found.tiers == TierList(("a",), ("w",))
        reasons = {each.subject: each.reasons[0] for each in found.dropped}
        assert reasons.keys() == {"w", "c", "zz", "s"}
        assert "memory promote" in reasons["c"]
        assert "secret" in reasons["s"]
        assert "no live note" in reasons["zz"]
        assert "no turn" in reasons["w"]

    def test_what_may_not_be_shown_any_more_leaves_and_what_is_gone_needs_no_reason(self) -> None:
        found = resolved(None, TierList(("a", "gone"), ("c",)), [fact("a"), fact("c", best=Tier.COLD)])
        assert found.tiers == TierList(("a",), ())
        assert [each.subject for each in found.dropped] == ["c"]


class TestPins:
    def test_they_are_hot_whatever_is_proposed_p13(self) -> None:
        facts = [fact("a"), fact("p", pinned=True)]
        for proposed in (None, TierList(), TierList(("a",)), TierList((), ("p",))):
            assert "p" in resolved(proposed, TierList(("a",)), facts).tiers.hot

    def test_they_fit_though_there_is_no_room_with_a_warning(self) -> None:
        facts = [fact("p", size=200, pinned=True), fact("q", size=200, pinned=True), fact("a", size=90)]
        found = resolved(TierList(("a",)), TierList(("a", "p")), facts)
        assert found.tiers == TierList(("p", "q"), ("a",))
        assert "300 characters" in found.warnings[0]

    def test_pins_of_one_repository_do_not_push_what_is_global_out_of_the_others(self) -> None:
        facts = [fact("p", size=400, pinned=True, scope=LAMP), fact("g"), fact("l", scope=LAMP)]
        found = resolved(TierList(("g", "l")), TierList(), facts)
        assert found.tiers == TierList(("p", "g"), ("l",))
        assert LAMP in found.warnings[0]


class TestDamping:
    """Who is hot stays, unless two tierings in a row or a clearly better newcomer say otherwise."""

    def test_what_is_left_out_once_stays_while_there_is_room(self) -> None:
        facts = [fact("a"), fact("b"), fact("n")]
        found = resolved(TierList(("b", "n")), TierList(("a", "b")), facts)
        assert found.tiers.hot == ("a", "b", "n")
        assert found.omitted == {"a": 1}

    def test_what_is_left_out_twice_leaves(self) -> None:
        facts = [fact("a"), fact("b")]
        once = resolved(TierList(("b",)), TierList(("a", "b")), facts)
        twice = resolved(TierList(("b",)), once.tiers, facts, omitted=once.omitted)
        assert twice == Resolved(TierList(("b",)))
        warm = resolved(TierList(("b",), ("a",)), once.tiers, facts, omitted=once.omitted)
        assert warm.tiers == TierList(("b",), ("a",))

    def test_only_a_clearly_better_newcomer_takes_its_room(self) -> None:
        full = [fact("a"), fact("b", score=2), fact("c", score=3)]
        current = TierList(("a", "b", "c"))
        better = resolved(TierList(("b", "c", "n")), current, [*full, fact("n", score=CLEARLY_BETTER)])
        assert better.tiers == TierList(("b", "c", "n"), ("a",))
        not_clearly = resolved(TierList(("b", "c", "n")), current, [*full, fact("n", score=CLEARLY_BETTER - 0.01)])
        assert not_clearly.tiers == TierList(("a", "b", "c"), ("n",))

    def test_the_weakest_goes_and_as_few_as_possible(self) -> None:
        facts = [fact("a", score=1), fact("b", score=2, size=60), fact("c", score=3), fact("n", score=9, size=140)]
        found = resolved(TierList(("n",)), TierList(("a", "b", "c")), facts)
        assert found.tiers == TierList(("b", "c", "n"), ("a",))


class TestPromoted:
    def test_what_no_list_has_held_counts_as_proposed(self) -> None:
        facts = [fact("a"), fact("p", promoted=True)]
        assert resolved(None, TierList(("a",)), facts).tiers.hot == ("a", "p")
        assert resolved(TierList(("a",)), TierList(("a",)), facts).tiers.hot == ("a", "p")

    def test_defrag_may_decide_otherwise_but_not_hide_it(self) -> None:
        facts = [fact("a"), fact("p", promoted=True)]
        once = resolved(TierList(("a",)), TierList(("a", "p")), facts)
        twice = resolved(TierList(("a",)), once.tiers, facts, omitted=once.omitted)
        assert once.tiers.hot == ("a", "p")
        assert twice.tiers == TierList(("a",), ("p",))
        assert resolved(TierList(("a",)), twice.tiers, facts).tiers == twice.tiers


# -- properties -------------------------------------------------------------------------------------------------------

NAMES = tuple("abcdefghij")


@st.composite
def entries(draw: st.DrawFn) -> dict[str, TierFacts]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return known(
        *(
            fact(
                name,
                score=draw(st.sampled_from((1.0, 1.1, 1.25, 1.5, 2.0, 4.0))),
                size=draw(st.integers(80, 220)),
                best=draw(st.sampled_from((Tier.HOT, Tier.HOT, Tier.WARM, Tier.COLD))),
                scope=draw(st.sampled_from((GLOBAL_SCOPE, GLOBAL_SCOPE, LAMP, KITE))),
                pinned=draw(st.sampled_from((False, False, False, True))),
                promoted=draw(st.booleans()),
            )
            for name in names
        )
    )


tier_lists = st.lists(st.sampled_from(NAMES), max_size=8).flatmap(
    lambda hot: st.lists(st.sampled_from(NAMES), max_size=8).map(lambda warm: TierList(tuple(hot), tuple(warm)))
)
budgets = st.builds(SectionBudget, st.integers(0, 600), st.integers(0, 4))
omissions = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), max_size=4)
some = settings(max_examples=100)


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, omissions)
def test_pins_are_hot_tiers_are_eligible_and_no_id_is_twice_p13_p19(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    omitted: dict[str, int],
) -> None:
    tiers = resolve_tiers(proposed, current, facts, budget, omitted).tiers
    assert {id for id, each in facts.items() if each.meta.pinned and each.best is Tier.HOT} <= set(tiers.hot)
    assert all(facts[id].best is Tier.HOT for id in tiers.hot)
    assert all(facts[id].best is not Tier.COLD for id in tiers.warm)
    everything = (*tiers.hot, *tiers.warm)
    assert len(everything) == len(set(everything))


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, omissions)
def test_every_section_fits_but_for_pins(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    omitted: dict[str, int],
) -> None:
    tiers = resolve_tiers(proposed, current, facts, budget, omitted).tiers
    for scope in (LAMP, KITE):
        shown = [facts[id] for id in tiers.hot if facts[id].meta.scope in (GLOBAL_SCOPE, scope)]
        pinned = sum(each.whole_chars for each in shown if each.meta.pinned)
        if pinned <= budget.hot_chars:
            assert sum(each.whole_chars for each in shown) <= budget.hot_chars
        else:
            assert all(each.meta.pinned or each.meta.scope == GLOBAL_SCOPE for each in shown)
        lines = [id for id in tiers.warm if facts[id].meta.scope in (GLOBAL_SCOPE, scope)]
        assert len(lines) <= budget.warm_lines


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, omissions)
def test_the_same_again_changes_nothing(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    omitted: dict[str, int],
) -> None:
    once = resolve_tiers(proposed, current, facts, budget, omitted)
    again = resolve_tiers(None, once.tiers, facts, budget, once.omitted)
    assert (again.tiers, again.omitted) == (once.tiers, once.omitted)
    proposed_again = resolve_tiers(once.tiers, once.tiers, facts, budget, {})
    assert (proposed_again.tiers, proposed_again.omitted) == (once.tiers, {})


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, omissions)
def test_who_stays_keeps_its_place(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    omitted: dict[str, int],
) -> None:
    hot = resolve_tiers(proposed, current, facts, budget, omitted).tiers.hot
    stayed = [id for id in dict.fromkeys(current.hot) if id in hot]
    assert list(hot[: len(stayed)]) == stayed


@some
@given(tier_lists, tier_lists, entries(), budgets)
def test_what_is_hot_leaves_only_for_something_clearly_better_or_for_want_of_room(
    proposed: TierList, current: TierList, facts: dict[str, TierFacts], budget: SectionBudget
) -> None:
    settled = resolve_tiers(None, current, facts, budget, {}).tiers
    found = resolve_tiers(proposed, settled, facts, budget, {}).tiers
    newcomers = [facts[id] for id in found.hot if id not in settled.hot]
    for id in settled.hot:
        if id not in found.hot:
            assert id not in proposed.hot
            assert any(each.score >= CLEARLY_BETTER * facts[id].score for each in newcomers)


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, st.randoms())
def test_the_order_in_which_entries_are_listed_does_not_matter(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    random: object,
) -> None:
    shuffled = list(facts.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve_tiers(proposed, current, facts, budget, {}) == resolve_tiers(
        proposed, current, dict(shuffled), budget, {}
    )


@some
@given(st.none() | tier_lists, tier_lists, entries(), budgets, omissions)
def test_entries_that_no_list_names_and_nobody_has_marked_make_no_difference(
    proposed: TierList | None,
    current: TierList,
    facts: dict[str, TierFacts],
    budget: SectionBudget,
    omitted: dict[str, int],
) -> None:
    lists = [current] if proposed is None else [proposed, current]
    named = {id for each in lists for id in (*each.hot, *each.warm)}
    concerned = {
        id: each for id, each in facts.items() if id in named or each.meta.pinned or each.meta.promoted_by is not None
    }
    assert resolve_tiers(proposed, current, concerned, budget, omitted) == resolve_tiers(
        proposed, current, facts, budget, omitted
    )
