"""From the tiers that somebody proposes to the tiers that hold: what may be shown, what fits, and in a stable order.

Hot changes are damped. What is hot and left out by a proposal stays while there is room; it leaves when it was left out in
two tierings in a row, or when a newcomer that is clearly better (`CLEARLY_BETTER`) needs its room. A newcomer that finds no
room goes to the head of what is warm. Who stays keeps its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attrs import define, evolve, field, frozen

from agent_memory.domain.actions import Archive, DefragPlan, Merge, Split, ids_of
from agent_memory.domain.change import Dropped
from agent_memory.domain.entry import Meta
from agent_memory.domain.section import SectionBudget
from agent_memory.domain.tiering.score import CLEARLY_BETTER, TierFacts
from agent_memory.domain.tiering.standing import is_vouched_for
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Origin, Sensitivity

HEADING_CHARS = 100
"""What is written around an entry that is shown whole, besides its title: heading mark, origin, date, blank lines."""


def hot_chars(facts: TierFacts) -> int:
    """About as many characters as the entry takes where it is shown whole."""
    return whole_chars(len(facts.meta.title), facts.body_chars)


def whole_chars(title_chars: int, body_chars: int) -> int:
    """The same, by the lengths of title and body."""
    return title_chars + HEADING_CHARS + body_chars


class Place(NamedTuple):
    """What an entry takes of a section, and of which."""

    scope: str
    size: int
    pinned: bool


def shown_whole(facts: Mapping[str, TierFacts]) -> dict[str, Place]:
    """What entries take that are shown whole."""
    return {id: Place(each.meta.scope, hot_chars(each), each.meta.pinned) for id, each in facts.items()}


def in_one_line(facts: Mapping[str, TierFacts]) -> dict[str, Place]:
    """What entries take that are one line each."""
    return {id: Place(each.meta.scope, 1, each.meta.pinned) for id, each in facts.items()}


@define
class SectionRoom:
    """What is taken of a budget, in each scope's section.

    Pins are always in. A scope whose pins alone are over the budget takes nothing else, and does not keep what is global
    out of the other sections.
    """

    limit: int
    places: Mapping[str, Place]
    """Of every entry that is put in or asked about, by id."""
    _taken: Counter[str] = field(factory=Counter[str])
    _pinned: Counter[str] = field(factory=Counter[str])

    def put(self, id: str) -> None:
        """Take the room of an entry, whether or not it is there."""
        self._add(self.places[id], 1)

    def remove(self, id: str) -> None:
        """Give the room of an entry back."""
        self._add(self.places[id], -1)

    def fits(self, id: str) -> bool:
        """Whether the entry could be put in as well."""
        self.put(id)
        fits = not self.crowded_by(id)
        self.remove(id)
        return fits

    def crowded_by(self, id: str) -> bool:
        """Whether a section that shows this entry, which is in, is over the budget."""
        scope = self.places[id].scope
        if scope != GLOBAL_SCOPE:
            return self._shown(self._taken, scope) > self.limit
        scopes = {GLOBAL_SCOPE} | {each for each in self._taken if self._shown(self._pinned, each) <= self.limit}
        return any(self._shown(self._taken, each) > self.limit for each in scopes)

    def overfull_by_pins(self) -> tuple[str, ...]:
        """The scopes whose pins, with the global ones, are over the budget."""
        return tuple(sorted(each for each in self._pinned if self._shown(self._pinned, each) > self.limit))

    def _add(self, place: Place, times: int) -> None:
        self._taken[place.scope] += times * place.size
        if place.pinned:
            self._pinned[place.scope] += times * place.size

    def _shown(self, sizes: Counter[str], scope: str) -> int:
        return sizes[GLOBAL_SCOPE] + (0 if scope == GLOBAL_SCOPE else sizes[scope])


def shares_a_section(one: Meta, other: Meta) -> bool:
    """Whether some section shows both."""
    return one.scope == other.scope or GLOBAL_SCOPE in (one.scope, other.scope)


def within(room: SectionRoom, ids: Iterable[str]) -> SectionRoom:
    """The room with these entries in it."""
    for id in ids:
        room.put(id)
    return room


TIERINGS_LEFT_OUT = 2
"""As often in a row must a proposal leave a hot entry out before it goes."""

_UNKNOWN = "it is no live note"
_NOT_HOT = "it may have a line, and not be hot: it names no turn of a session that it comes from"


@frozen
class Resolved:
    """The tiers that hold, and what was made of the proposal."""

    tiers: TierList
    omitted: Mapping[str, int] = field(factory=dict[str, int])
    """How many tierings in a row have left a hot entry out, by id."""
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()


@frozen
class _Wish:
    """A proposal, reduced to what may be shown."""

    hot: tuple[str, ...]
    warm: tuple[str, ...]
    dropped: tuple[Dropped, ...] = ()


@frozen
class _Hot:
    ids: tuple[str, ...]
    leaving: tuple[str, ...]
    """For the head of what is warm, in order."""
    omitted: Mapping[str, int]
    warnings: tuple[str, ...]


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
    first = _resolved_once(proposed, current, facts, budget, omitted)
    last = first
    # A promoted entry that found no line may find room among what is hot; each time round takes one more in.
    while (again := _resolved_once(None, last.tiers, facts, budget, last.omitted)).tiers != last.tiers:
        last = again
    hot = (*(id for id in dict.fromkeys(current.hot) if id in last.tiers.hot), *last.tiers.hot)
    return evolve(first, tiers=TierList(tuple(dict.fromkeys(hot)), last.tiers.warm), omitted=last.omitted)


def _resolved_once(
    proposed: TierList | None,
    current: TierList,
    facts: Mapping[str, TierFacts],
    budget: SectionBudget,
    omitted: Mapping[str, int],
) -> Resolved:
    wish = _allowed(proposed if proposed is not None else current, facts, named=proposed is not None)
    known = _allowed(current, facts, named=False)
    newly_promoted = _newly_promoted(current, facts)
    hot = _resolve_hot(_with(wish, newly_promoted), known, facts, budget, omitted, counted=proposed is not None)
    warm = _resolve_warm(hot, wish, known, facts, budget, newly_promoted)
    told = {each.subject for each in wish.dropped}
    dropped = (*wish.dropped, *(each for each in known.dropped if each.subject not in told))
    return Resolved(TierList(hot.ids, warm), hot.omitted, dropped, hot.warnings)


def _allowed(tiers: TierList, facts: Mapping[str, TierFacts], *, named: bool) -> _Wish:
    """What of a list is live and may be there. Reasons are given for what somebody named now, and for what may not be
    shown any more; what is simply gone needs none."""
    hot, warm, dropped = list[str](), list[str](), list[Dropped]()
    listed = {**dict.fromkeys(tiers.warm, Tier.WARM), **dict.fromkeys(tiers.hot, Tier.HOT)}
    for id in dict.fromkeys((*tiers.hot, *tiers.warm)):
        tier = listed[id]
        if id not in facts:
            dropped += [Dropped(id, (_UNKNOWN,))] if named else []
        elif facts[id].best is Tier.COLD:
            dropped.append(Dropped(id, (_why_cold(facts[id]),)))
        elif tier is Tier.HOT and facts[id].best is Tier.HOT:
            hot.append(id)
        else:
            warm.append(id)
            dropped += [Dropped(id, (_NOT_HOT,))] if tier is Tier.HOT else []
    return _Wish(tuple(hot), tuple(warm), tuple(dropped))


def _why_cold(facts: TierFacts) -> str:
    if facts.meta.sensitivity is Sensitivity.SECRET:
        return "it is secret"
    if is_vouched_for(facts.meta) or facts.meta.origin is Origin.USER:
        return "it has expired"
    return "it may be shown unasked only after `memory promote`"


def _newly_promoted(current: TierList, facts: Mapping[str, TierFacts]) -> tuple[str, ...]:
    listed = {*current.hot, *current.warm}
    new = [
        each
        for each in facts.values()
        if each.best is Tier.HOT and is_vouched_for(each.meta) and each.meta.id not in listed
    ]
    return tuple(each.meta.id for each in sorted(new, key=lambda each: (-each.score, each.meta.id)))


def _with(wish: _Wish, newly_promoted: tuple[str, ...]) -> _Wish:
    return _Wish((*wish.hot, *(id for id in newly_promoted if id not in wish.hot)), wish.warm)


# -- hot --------------------------------------------------------------------------------------------------------------


def _resolve_hot(
    wish: _Wish,
    known: _Wish,
    facts: Mapping[str, TierFacts],
    budget: SectionBudget,
    omitted: Mapping[str, int],
    *,
    counted: bool,
) -> _Hot:
    pinned = frozenset(id for id, each in facts.items() if each.meta.pinned and each.best is Tier.HOT)
    counts = _counts(known.hot, pinned | frozenset(wish.hot if counted else ()), omitted, counted=counted)
    staying = [id for id in known.hot if counts.get(id, 0) < TIERINGS_LEFT_OUT]
    new_pins = sorted(pinned - frozenset(staying), key=lambda id: _place(id, wish.hot, facts))
    members = [*staying, *new_pins]
    room = within(SectionRoom(budget.hot_chars, shown_whole(facts)), members)
    left_out = frozenset(counts)
    crowded_out = make_fit(members, room, pinned, left_out, facts)
    challengers = [id for id in wish.hot if id not in members and id not in crowded_out]
    displaced = admit(challengers, members, room, left_out, facts)
    # Each in its own order: who was there, pins that are new, who was proposed.
    arrived = [id for id in challengers if id in members]
    ids = (*(id for id in (*staying, *new_pins) if id in members), *arrived)
    failed = [id for id in challengers if id not in members]
    gone_by_choice = [id for id in known.hot if counts.get(id, 0) >= TIERINGS_LEFT_OUT and id in wish.warm]
    vouched = [id for id in known.hot if counts.get(id, 0) >= TIERINGS_LEFT_OUT and is_vouched_for(facts[id].meta)]
    leaving = dict.fromkeys((*failed, *displaced, *crowded_out, *gone_by_choice, *vouched))
    kept_counts = {id: count for id, count in counts.items() if id in ids}
    return _Hot(ids, tuple(leaving), kept_counts, _pin_warnings(room, budget))


def _counts(
    hot: Sequence[str], wanted: frozenset[str], omitted: Mapping[str, int], *, counted: bool
) -> Mapping[str, int]:
    """How often in a row each hot entry has been left out, this time included; those that were not are not in it."""
    if counted:
        return {id: omitted.get(id, 0) + 1 for id in hot if id not in wanted}
    return {id: min(omitted[id], TIERINGS_LEFT_OUT - 1) for id in hot if id not in wanted and omitted.get(id, 0) > 0}


def _place(id: str, proposed: Sequence[str], facts: Mapping[str, TierFacts]) -> tuple[int, int, str]:
    return (proposed.index(id) if id in proposed else len(proposed), facts[id].meta.created_at_ms, id)


def _pin_warnings(room: SectionRoom, budget: SectionBudget) -> tuple[str, ...]:
    return tuple(
        f"The pinned notes of {'all places' if scope == GLOBAL_SCOPE else scope} take more than {budget.hot_chars:,} characters; "
        "all of them are shown, and nothing else whole"
        for scope in room.overfull_by_pins()
    )


# -- warm -------------------------------------------------------------------------------------------------------------


def _resolve_warm(
    hot: _Hot,
    wish: _Wish,
    known: _Wish,
    facts: Mapping[str, TierFacts],
    budget: SectionBudget,
    newly_promoted: tuple[str, ...],
) -> tuple[str, ...]:
    wanted = frozenset(wish.warm)
    staying = [id for id in known.warm if id in wanted or id in hot.leaving or is_vouched_for(facts[id].meta)]
    # Who stays keeps its place, also where it would rather have been hot.
    first = [id for id in hot.leaving if id not in staying]
    lines = dict.fromkeys(id for id in (*first, *staying, *wish.warm) if id not in hot.ids)
    room = within(SectionRoom(budget.warm_lines, in_one_line(facts)), lines)
    # Given up from the end; last of all what a person vouches for, and of that the newcomers first.
    ranks = {id: is_vouched_for(facts[id].meta) * (1 if id in newly_promoted else 2) for id in lines}
    for _, id in sorted(enumerate(lines), key=lambda place: (ranks[place[1]], -place[0])):
        if room.crowded_by(id):
            room.remove(id)
            del lines[id]
    return tuple(lines)


def make_fit(
    members: list[str],
    room: SectionRoom,
    pinned: frozenset[str],
    left_out: frozenset[str],
    facts: Mapping[str, TierFacts],
) -> list[str]:
    """Take out of `members` what an overfull section must lose: first what is left out, then what nobody vouches for,
    then the weakest. Returned in the order of the list."""
    before = list(members)
    weakest_first = sorted(
        (id for id in members if id not in pinned), key=lambda id: (id not in left_out, *_strength(id, facts))
    )
    removed: list[str] = []
    for id in weakest_first:
        if room.crowded_by(id):
            room.remove(id)
            members.remove(id)
            removed.append(id)
    for id in reversed(removed):  # one large entry less may have made room for smaller ones
        _put_where_it_fits(id, members, room)
    members.sort(key=before.index)
    return [id for id in before if id not in members]


def admit(
    challengers: Sequence[str],
    members: list[str],
    room: SectionRoom,
    left_out: frozenset[str],
    facts: Mapping[str, TierFacts],
) -> list[str]:
    """Add to `members` the challengers that fit, or that are clearly better than what is left out and in their way; what
    had to leave, in the order in which it did."""
    displaced: list[str] = []
    waiting = list(challengers)
    progress = True
    while waiting and progress:  # who leaves may make room for one that came too early
        progress = False
        for id in tuple(waiting):
            weaker = [each for each in members if each in left_out and _is_beaten(facts[each], facts[id])]
            gone = _displacing(id, sorted(weaker, key=lambda each: _strength(each, facts)), members, room)
            if gone is None:
                continue
            waiting.remove(id)
            displaced += gone
            progress = True
    return displaced


def _displacing(id: str, weaker: Sequence[str], members: list[str], room: SectionRoom) -> list[str] | None:
    """Put the entry in, and out what of `weaker` is in its way, as little as possible; None, and nothing changed, where
    even all of that makes no room."""
    if _put_where_it_fits(id, members, room):
        return []
    gone: list[str] = []
    for each in weaker:
        room.remove(each)
        members.remove(each)
        gone.append(each)
        if room.fits(id):
            break
    if not _put_where_it_fits(id, members, room):
        for each in gone:
            room.put(each)
            members.append(each)
        return None
    return [each for each in reversed(gone) if not _put_where_it_fits(each, members, room)][::-1]


def _put_where_it_fits(id: str, members: list[str], room: SectionRoom) -> bool:
    if not room.fits(id):
        return False
    room.put(id)
    members.append(id)
    return True


def _is_beaten(incumbent: TierFacts, challenger: TierFacts) -> bool:
    in_the_way = shares_a_section(incumbent.meta, challenger.meta)
    return in_the_way and challenger.score >= CLEARLY_BETTER * incumbent.score


def _strength(id: str, facts: Mapping[str, TierFacts]) -> tuple[bool, float, str]:
    return (is_vouched_for(facts[id].meta), facts[id].score, id)


def tiers_after(tiers: TierList, plan: DefragPlan) -> TierList:
    """The list in which the new entries of a merge or split stand where the first of their sources stood, in the best tier
    of any of them; what is archived is gone. No id is twice."""
    heirs = _heirs(plan)
    hot = tuple(dict.fromkeys(_succeeded(tiers.hot, heirs)))
    warm = tuple(dict.fromkeys(id for id in _succeeded(tiers.warm, heirs) if id not in hot))
    return TierList(hot, warm)


def _heirs(plan: DefragPlan) -> Mapping[str, tuple[str, ...]]:
    """What takes the place of each entry that goes."""
    return {
        id: () if isinstance(planned.action, Archive) else planned.new_ids
        for planned in plan.actions
        if isinstance(planned.action, Merge | Split | Archive)
        for id in ids_of(planned.action)
    }


def _succeeded(ids: Iterable[str], heirs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for id in ids:
        yield from heirs.get(id, (id,))
