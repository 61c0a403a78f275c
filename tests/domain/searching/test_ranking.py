"""The order of what was found, and what each reason adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.searching.indexed_note import NearNote, NoteLink, Place, Relation
from agent_memory.domain.searching.matching import TermPart
from agent_memory.domain.searching.query_hints import Period, QueryHints
from agent_memory.domain.searching.ranking import (
    Asker,
    Found,
    Ranked,
    Surroundings,
    in_order,
    live_first,
    spread,
    weigh,
    with_successors,
)
from agent_memory.domain.searching.ranking_weights import WEIGHTS
from agent_memory.domain.searching.search_answer import ScorePart
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Importance, Kind

NOW_MS = 1_770_000_000_000
MOST = 9
COUNTS = (0, 0, 0, 1)
SESSIONS = {"near": (1, 2, 3), "far": (4, 5), "alone": (6,)}


def listed(number: int, *, archived: bool = False, **meta: Any) -> Listed:
    id = f"id__aaaaa{'123456789'[number]}"
    base = Meta(id, f"note {number}", NOW_MS - DAY_MS, NOW_MS - DAY_MS)
    return Listed(evolve(base, **meta), f"topics/{id}.md", "", archived)


def weighed(
    entries: Mapping[int, Listed],
    hints: QueryHints | None = None,
    *,
    here: str = "global",
    tiers: Mapping[str, Tier] | None = None,
    usage: Mapping[str, Usage] | None = None,
) -> list[Ranked]:
    """All found equally well by their words."""
    parts = {number: [ScorePart("words", 1.0)] for number in entries}
    asker = Asker(NOW_MS, here)
    ranked = weigh(parts, entries, hints or QueryHints(), asker, tiers or {}, usage or {}, WEIGHTS)
    return in_order(ranked.values())


def session_meaning_of(found: Found, places: list[Place]) -> dict[int, float]:
    parts = spread(found, Surroundings(places=places), WEIGHTS, MOST)
    return {number: part.value for number, all in parts.items() for part in all if part.name == "session meaning"}


def first(entries: Mapping[int, Listed], hints: QueryHints | None = None, **facts: Any) -> int:
    return weighed(entries, hints, **facts)[0].number


def test_the_best_by_words_has_one_and_the_others_their_share() -> None:
    parts = spread(Found({1: 8.0, 2: 2.0}), Surroundings(), WEIGHTS, MOST)
    assert parts == {1: [ScorePart("words", 1.0)], 2: [ScorePart("words", 0.25)]}


def test_meaning_adds_by_standard_deviations_and_finds_what_has_no_word() -> None:
    parts = spread(Found({1: 1.0}, {1: -1.0, 2: 2.0}), Surroundings(), WEIGHTS, MOST)
    assert [part.value for part in parts[1]] == [1.0, -WEIGHTS.meaning]
    assert [part.value for part in parts[2]] == [2 * WEIGHTS.meaning]


def test_neighbouring_turns_get_a_share_that_decays() -> None:
    near = {1: (NearNote(2, 1), NearNote(3, -2), NearNote(4, 3))}
    parts = spread(Found({1: 5.0}), Surroundings(near), WEIGHTS, MOST)
    assert {number: part.value for number, [part] in parts.items() if number != 1} == {
        2: WEIGHTS.near[0],
        3: WEIGHTS.near[1],
    }


def test_the_session_that_says_most_as_a_whole_lifts_its_entries() -> None:
    places = [Place(1, "a", 1), Place(2, "a", 9), Place(3, "b", 1), Place(4, "b", 5), Place(5, "alone", 1)]
    said = {
        1: (TermPart("zebra", "zebra", 2.0, COUNTS),),
        2: (TermPart("lock", "lock", 2.0, COUNTS),),
        3: (TermPart("lock", "lock", 2.0, COUNTS),),
        5: (TermPart("zebra", "zebra", 2.0, COUNTS),),
    }
    found = Found({1: 2.0, 2: 2.0, 3: 2.0, 5: 2.0}, said=said, worth={"zebra": 2.0, "lock": 2.0})
    parts = spread(found, Surroundings(places=places), WEIGHTS, MOST)
    given = {number: part.value for number, all in parts.items() for part in all if part.name == "session"}
    assert given[1] == given[2] == WEIGHTS.session
    assert 0 < given[3] == given[4] < WEIGHTS.session
    assert 5 not in given


def test_a_session_that_is_near_in_meaning_lifts_its_entries_and_a_far_one_loses() -> None:
    places = [Place(number, session, number) for session, numbers in SESSIONS.items() for number in numbers]
    near_and_far = Found({1: 1.0}, {1: 0.0, 2: 2.0, 3: 1.0, 4: -1.0, 5: -1.0, 6: 3.0})
    given = session_meaning_of(near_and_far, places)
    assert given[1] == given[2] == given[3] > 0 > given[4] == given[5]
    assert given[1] == pytest.approx(WEIGHTS.session_meaning * 3 / (3 + WEIGHTS.session_meaning_entries))
    assert 6 not in given, "one entry alone makes no session"


def test_a_few_entries_say_less_of_a_session_than_many() -> None:
    few, many = [Place(1, "few", 1), Place(2, "few", 2)], [Place(number, "many", number) for number in range(3, 30)]
    given = session_meaning_of(Found({1: 1.0}, dict.fromkeys(range(1, 30), 1.0)), [*few, *many])
    assert 0 < given[1] < given[3] < WEIGHTS.session_meaning


def test_of_several_sessions_the_nearest_in_meaning_counts() -> None:
    places = [Place(1, "near", 1), Place(2, "near", 2), Place(1, "far", 1), Place(3, "far", 2)]
    found = Found({1: 1.0}, {1: 0.0, 2: 2.0, 3: -2.0})
    assert session_meaning_of(found, places)[1] == session_meaning_of(found, places[:2])[1] > 0


def test_entries_whose_meaning_is_not_known_neither_count_nor_gain() -> None:
    places = [Place(number, "a", number) for number in (1, 2, 3)]
    known = Found({1: 1.0, 3: 1.0}, {1: 1.0, 2: 1.0})
    assert session_meaning_of(known, places) == session_meaning_of(known, places[:2])
    assert session_meaning_of(known, places).keys() == {1, 2}


def test_links_give_a_share_both_ways() -> None:
    links = [NoteLink(1, 2, Relation.LINKS), NoteLink(3, 1, Relation.LINKS), NoteLink(4, 1, Relation.SUPERSEDES)]
    parts = spread(Found({1: 1.0}), Surroundings(links=links), WEIGHTS, MOST)
    assert {number for number, all in parts.items() for part in all if part.name == "links"} == {2, 3}


def test_entries_of_here_come_first_and_those_of_other_repositories_last() -> None:
    entries = {1: listed(1, scope="h/o/other"), 2: listed(2), 3: listed(3, scope="h/o/here")}
    assert [each.number for each in weighed(entries, here="h/o/here")] == [3, 2, 1]
    assert {each.total for each in weighed(entries)} == {1.0}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"importance": Importance.CRITICAL}, {"importance": Importance.HIGH}),
        ({"importance": Importance.MEDIUM}, {"importance": Importance.LOW}),
        ({"confidence": 0.9}, {"confidence": None}),
        ({"confidence": None}, {"confidence": 0.2}),
        ({}, {"expires_at_ms": NOW_MS}),
        ({"expires_at_ms": NOW_MS + 1}, {"valid_until_ms": NOW_MS - 1}),
    ],
)
def test_what_the_frontmatter_says_decides_between_equals(better: dict[str, Any], worse: dict[str, Any]) -> None:
    assert first({1: listed(1, **worse), 2: listed(2, **better)}) == 2


def test_a_kind_counts_only_where_it_is_asked_for() -> None:
    entries = {1: listed(1), 2: listed(2, kind=Kind.DECISION)}
    assert first(entries, QueryHints(kinds=frozenset({Kind.DECISION}))) == 2
    assert {each.total for each in weighed(entries)} == {1.0}


def test_age_counts_only_where_the_newest_is_asked_for() -> None:
    entries = {1: listed(1, valid_from_ms=NOW_MS - 90 * DAY_MS), 2: listed(2, valid_from_ms=NOW_MS - DAY_MS)}
    assert first(entries, QueryHints(newest=True)) == 2
    assert {each.total for each in weighed(entries)} == {1.0}


def test_entries_of_a_time_that_is_named_come_first() -> None:
    entries = {1: listed(1), 2: listed(2, valid_from_ms=1_000)}
    assert first(entries, QueryHints(periods=(Period(0, 2_000),))) == 2


def test_tier_and_use_break_ties() -> None:
    entries = {1: listed(1), 2: listed(2)}
    assert first(entries, tiers={"id__aaaaa3": Tier.HOT}) == 2
    assert first(entries, usage={"id__aaaaa3": Usage(9, None)}) == 2


def test_equals_are_in_the_order_of_their_last_change_then_of_their_ids() -> None:
    entries = {3: listed(3), 2: listed(2), 1: listed(1, updated_at_ms=NOW_MS)}
    assert [each.number for each in weighed(entries)] == [1, 2, 3]


def superseded(links: list[NoteLink], entries: Mapping[int, Listed], totals: Mapping[int, float]) -> list[Ranked]:
    ranked = {number: Ranked(number, entries[number], total, ()) for number, total in totals.items()}
    return in_order(with_successors(ranked, links, entries, WEIGHTS).values())


def test_what_is_superseded_is_below_its_successor_and_names_it() -> None:
    entries = {1: listed(1), 2: listed(2)}
    order = superseded([NoteLink(2, 1, Relation.SUPERSEDES)], entries, {1: 1.0, 2: 0.1})
    assert [(each.number, each.successor) for each in order] == [(2, None), (1, 2)]


def test_a_successor_that_was_not_found_is_brought_in() -> None:
    entries = {1: listed(1), 2: listed(2), 3: listed(3)}
    links = [NoteLink(2, 1, Relation.SUPERSEDES), NoteLink(3, 2, Relation.SUPERSEDES)]
    assert [each.number for each in superseded(links, entries, {1: 1.0})] == [3, 1]


def test_entries_that_supersede_each_other_stay_as_they_are() -> None:
    entries = {1: listed(1), 2: listed(2)}
    links = [NoteLink(2, 1, Relation.SUPERSEDES), NoteLink(1, 2, Relation.SUPERSEDES)]
    assert {each.successor for each in superseded(links, entries, {1: 1.0, 2: 0.5})} == {None}


def test_the_archive_is_below_what_lives() -> None:
    entries = {1: listed(1, archived=True), 2: listed(2)}
    ranked = {number: Ranked(number, each, 1.0 / number, ()) for number, each in entries.items()}
    assert [each.number for each in live_first(in_order(ranked.values()))] == [2, 1]


@given(
    st.dictionaries(st.integers(1, 8), st.floats(0, 100), max_size=8),
    st.dictionaries(st.integers(1, 8), st.floats(-4, 4), max_size=8),
    st.lists(st.builds(NoteLink, st.integers(1, 8), st.integers(1, 8), st.just(Relation.LINKS)), max_size=8),
    st.integers(0, 9),
)
def test_the_most_given_are_the_first_of_all(
    scores: dict[int, float], meaning: dict[int, float], links: list[NoteLink], most: int
) -> None:
    near = {number: [NearNote(number % 8 + 1, 1)] for number in scores}
    found, ties = Found(scores, meaning), Surroundings(near, links=links)
    every = spread(found, ties, WEIGHTS, MOST)
    totals = {number: sum(part.value for part in parts) for number, parts in every.items()}
    assert list(totals.values()) == pytest.approx(sorted(totals.values(), reverse=True))
    assert list(spread(found, ties, WEIGHTS, most).items()) == list(every.items())[:most]


@given(st.dictionaries(st.integers(1, 8), st.floats(0, 100), max_size=8), st.integers(0, 8))
def test_the_parts_sum_up_to_the_total(scores: dict[int, float], most: int) -> None:
    parts = spread(Found(scores), Surroundings(), WEIGHTS, most)
    entries = {number: listed(number, valid_until_ms=1, importance=Importance.HIGH) for number in parts}
    ranked = weigh(parts, entries, QueryHints(newest=True), Asker(NOW_MS), {}, {}, WEIGHTS)
    assert len(parts) <= most
    for each in ranked.values():
        assert sum(part.value for part in each.parts) == pytest.approx(each.total)
        assert each.total > 0
