"""Who goes and who comes where not everybody fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.domain.tiering.score import CLEARLY_BETTER, TierFacts
from agent_memory.domain.tiering.section_room import SectionRoom, shares_a_section
from agent_memory.domain.tiering.vouched import is_vouched_for


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
