"""From the tiers that somebody proposes to the tiers that hold: what may be shown, what fits, and in a stable order.

Hot changes are damped. What is hot and left out by a proposal stays while there is room; it leaves when it was left out in
two tierings in a row, or when a newcomer that is clearly better (`CLEARLY_BETTER`) needs its room. A newcomer that finds no
room goes to the head of what is warm. Who stays keeps its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import define, evolve, field, frozen

from agent_memory.note.vocabulary import GLOBAL_SCOPE, Origin, Tier, TierList
from agent_memory.rules.change import Dropped
from agent_memory.rules.plan import DefragPlan
from agent_memory.rules.score import CLEARLY_BETTER, TierFacts
from agent_memory.rules.section import SectionBudget

TIERINGS_LEFT_OUT = 2
"""As often in a row must a proposal leave a hot entry out before it goes."""


@define
class SectionRoom:
    """What is taken of a budget, in each scope's section.

    Pins are always in. A scope whose pins alone are over the budget takes nothing else, and does not keep what is global
    out of the other sections.
    """

    limit: int
    _taken: Counter[str] = field(factory=Counter[str])
    _pinned: Counter[str] = field(factory=Counter[str])

    def takes(self, scope: str, size: int, *, pinned: bool = False) -> bool:
        """Put an entry of this scope and size in if it is pinned or fits; whether it is in."""
        taken = self._taken + Counter({scope: size})
        sections = {scope}
        if scope == GLOBAL_SCOPE:  # in every section, but for those that their own pins have filled
            sections.update(each for each in taken if not self._is_over(self._pinned, each))
        is_in = pinned or not any(self._is_over(taken, each) for each in sections)
        if is_in:
            self._taken[scope] += size
            self._pinned[scope] += size if pinned else 0
        return is_in

    def overfull_by_pins(self) -> list[str]:
        """The scopes whose pins, with the global ones, are over the budget."""
        return sorted(each for each, size in self._pinned.items() if size and self._is_over(self._pinned, each))

    def _is_over(self, sizes: Counter[str], scope: str) -> bool:
        own = 0 if scope == GLOBAL_SCOPE else sizes[scope]
        return sizes[GLOBAL_SCOPE] + own > self.limit


@frozen
class Resolved:
    """The tiers that hold, and what was made of the proposal."""

    tiers: TierList
    omitted: Mapping[str, int] = field(factory=dict[str, int])
    """How many tierings in a row have left a hot entry out, by id."""
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()


def resolve_tiers(
    proposed: TierList | None,
    current: TierList,
    facts: Mapping[str, TierFacts],
    budget: SectionBudget,
    omitted: Mapping[str, int],
) -> Resolved:
    """The tier list to be kept. `facts`, by id, are those of the live entries that either list names, that are pinned and
    that a person vouches for; those of others make no difference.

    Pinned entries that may be hot are hot, and always fit. An entry that a person promoted and that no list has held is
    hot like one that is proposed, and stays at least warm while there is room. Without a proposal nothing else changes
    than what must. The same again with nothing newly proposed changes nothing.
    """
    first = last = _resolved_once(proposed, current, facts, budget, omitted)
    # A promoted entry that found no line may find room among what is hot; each time round takes one more in.
    while (again := _resolved_once(None, last.tiers, facts, budget, last.omitted)).tiers != last.tiers:
        last = again
    hot = dict.fromkeys((*(id for id in current.hot if id in last.tiers.hot), *last.tiers.hot))
    return evolve(first, tiers=TierList(tuple(hot), last.tiers.warm), omitted=last.omitted)


def _resolved_once(
    proposed: TierList | None,
    current: TierList,
    facts: Mapping[str, TierFacts],
    budget: SectionBudget,
    omitted: Mapping[str, int],
) -> Resolved:
    known, gone = _allowed(current, facts, named=False)
    wish, refused = (known, gone) if proposed is None else _allowed(proposed, facts, named=True)
    vouched = {id for id, each in facts.items() if each.meta.is_vouched_for}
    promoted = [id for id in vouched.difference(current.hot, current.warm) if facts[id].best is Tier.HOT]
    promoted.sort(key=lambda id: (-facts[id].score, id))
    wanted = (*wish.hot, *(id for id in promoted if id not in wish.hot))

    # How often in a row each hot entry has been left out, this time included where somebody proposes.
    left_out = [id for id in known.hot if not facts[id].meta.pinned]
    if proposed is not None:
        counts = {id: omitted.get(id, 0) + 1 for id in left_out if id not in wanted}
    else:
        counts = {id: min(omitted[id], TIERINGS_LEFT_OUT - 1) for id in left_out if omitted.get(id, 0) > 0}
    staying = [id for id in known.hot if counts.get(id, 0) < TIERINGS_LEFT_OUT]
    room = SectionRoom(budget.hot_chars)
    members = _fill_hot(staying, wanted, counts, facts, room)
    challengers = [id for id in wanted if id not in staying]
    pins = [id for id, each in facts.items() if each.meta.pinned and each.best is Tier.HOT and id not in staying]
    pins.sort(key=lambda id: (wanted.index(id) if id in wanted else len(wanted), facts[id].meta.created_at_ms, id))
    # Each in its own order: who was there, pins that are new (as they are proposed, then the oldest), who was proposed.
    hot = [id for id in (*staying, *pins, *challengers) if id in members]

    failed = [id for id in challengers if id not in members]
    pushed_out = [id for id in staying if id not in members]
    dismissed = [id for id in known.hot if id not in staying and (id in wish.warm or id in vouched)]
    leaving = dict.fromkeys((*failed, *pushed_out, *dismissed))
    waiting = [id for id in known.warm if id in wish.warm or id in leaving or id in vouched]
    # Who stays keeps its place, also where it would rather have been hot.
    lines = dict.fromkeys((*(id for id in leaving if id not in waiting), *waiting, *wish.warm))
    warm = [id for id in lines if id not in members]
    warm_room = SectionRoom(budget.warm_lines)
    # What a person vouches for finds a line first, and of that the newcomers last.
    by_rank = sorted(warm, key=lambda id: (id not in vouched, id in promoted))
    with_line = {id for id in by_rank if warm_room.takes(facts[id].meta.scope, 1)}

    told = {each.subject for each in refused}
    return Resolved(
        TierList(tuple(dict.fromkeys(hot)), tuple(id for id in warm if id in with_line)),
        {id: count for id, count in counts.items() if id in members},
        (*refused, *(each for each in gone if each.subject not in told)),
        tuple(
            f"The pinned notes of {'all places' if scope == GLOBAL_SCOPE else scope} take more than {room.limit:,} characters; "
            "they are all shown, and no other note is shown whole"
            for scope in room.overfull_by_pins()
        ),
    )


def _allowed(tiers: TierList, facts: Mapping[str, TierFacts], *, named: bool) -> tuple[TierList, tuple[Dropped, ...]]:
    """What of a list is live and may be there. Reasons are given for what somebody named now, and for what may not be
    shown any more; what is simply gone needs none."""
    hot, warm, dropped = list[str](), list[str](), list[Dropped]()
    for id in dict.fromkeys((*tiers.hot, *tiers.warm)):
        if id not in facts:
            dropped += [Dropped(id, ("it is no live note",))] if named else []
        elif facts[id].best is Tier.COLD:
            dropped.append(Dropped(id, (_why_cold(facts[id]),)))
        elif id in tiers.hot and facts[id].best is Tier.HOT:
            hot.append(id)
        else:
            warm.append(id)
            why = "it may be warm but not hot: it names no turn of a session"
            dropped += [Dropped(id, (why,))] if id in tiers.hot else []
    return TierList(tuple(hot), tuple(warm)), tuple(dropped)


def _why_cold(facts: TierFacts) -> str:
    if facts.meta.is_secret:
        return "it is secret"
    if facts.meta.is_vouched_for or facts.meta.origin is Origin.USER:
        return "it has expired"
    return "it may be shown unasked only after `memory promote`"


def _fill_hot(
    staying: Sequence[str],
    wanted: Sequence[str],
    left_out: Mapping[str, int],
    facts: Mapping[str, TierFacts],
    room: SectionRoom,
) -> set[str]:
    """What is hot: the pins; of what stays the strongest first, so that the weakest gives way; then newcomers in their order,
    each before what it may push out, which is what is left out and clearly weaker."""
    members: set[str] = set()

    def put(id: str, *, pinned: bool = False) -> None:
        if id not in members and room.takes(facts[id].meta.scope, facts[id].whole_chars, pinned=pinned):
            members.add(id)

    for id, each in facts.items():
        if each.meta.pinned and each.best is Tier.HOT:
            put(id, pinned=True)
    strongest = sorted(staying, key=lambda id: (facts[id].meta.is_vouched_for, facts[id].score, id), reverse=True)
    for id in strongest:
        if id not in left_out:
            put(id)
    newcomers = [id for id in wanted if id not in staying]
    tried: set[str] = set()
    for newcomer in newcomers:
        challenger = facts[newcomer]
        for id in strongest:
            in_the_way = facts[id].meta.shares_a_place_with(challenger.meta)
            is_beaten = in_the_way and challenger.score >= CLEARLY_BETTER * facts[id].score
            if id in left_out and id not in tried and not is_beaten:
                tried.add(id)
                put(id)
        put(newcomer)
    for id in (*strongest, *newcomers):  # who left may have made room for one that came too early
        put(id)
    return members


def tiers_after(tiers: TierList, plan: DefragPlan) -> TierList:
    """The list in which the new entries of a merge or split stand where the first of their sources stood, in the best tier
    of any of them; what is archived is gone. No id is twice."""
    heirs = {change.id: group.new_ids for group in plan.actions for change in group.changes if change.act == "retire"}
    hot, warm = (dict.fromkeys(heir for id in ids for heir in heirs.get(id, (id,))) for ids in (tiers.hot, tiers.warm))
    return TierList(tuple(hot), tuple(id for id in warm if id not in hot))
