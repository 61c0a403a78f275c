"""Which entries say the same word for word, and what their merge holds."""

from __future__ import annotations

from itertools import permutations

import pytest

from agent_memory.domain.defragging.information import lost_content, said_by
from agent_memory.domain.defragging.tidied import merge_of, twins_among
from agent_memory.domain.entry import Source
from agent_memory.domain.vocabulary import Harness, Kind, Origin, Sensitivity
from defrag_requests import DAY_MS, NOW_MS, stored

BODY = "The staging database is reset every Sunday night at 02:00."
ONE = stored("Staging is reset", BODY)


def ids(*groups: tuple[str, ...]) -> set[frozenset[str]]:
    return {frozenset(group) for group in groups}


def found(*entries: object) -> set[frozenset[str]]:
    return {frozenset(each.meta.id for each in twins) for twins in twins_among(entries)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        f"\n\n{BODY}  \n",
        BODY.replace(" every", "  every"),
        f"{BODY}\n\nSee also: [[id__c3d4e5]]",
    ],
)
def test_white_space_and_the_line_of_links_make_no_difference(body: str) -> None:
    other = stored("Another title", body)
    assert found(ONE, other) == ids((ONE.meta.id, other.meta.id))


@pytest.mark.parametrize(
    "other",
    [
        stored("Another title", BODY, scope="github.com/acme/shop"),
        stored("Another title", BODY, pinned=True, promoted_by="person"),
        stored("Another title", BODY, sensitivity=Sensitivity.SECRET),
        stored("Another title", BODY, sensitivity=Sensitivity.PRIVATE),
        stored("Another title", BODY, conflicted=True),
        stored("Another title", BODY, kind=Kind.HANDOFF),
        stored("Another title", BODY, promoted_by="person"),
        stored("Another title", BODY, origin=Origin.EXTERNAL),
    ],
    ids=["scope", "pinned", "secret", "private", "conflicted", "handoff", "promoted", "external"],
)
def test_what_a_merge_would_take_something_from_is_left_alone(other: object) -> None:
    """P13, P19: a merge takes the least trusted origin and the strictest sensitivity of what goes in."""
    assert found(ONE, other) == set()


def test_what_an_agent_repeats_takes_nothing_from_what_the_person_said() -> None:
    """P19: a merge would be an agent's."""
    repeated = stored("Another title", BODY, origin=Origin.AGENT)
    assert found(ONE, repeated) == set()


def test_what_holds_a_secret_is_left_alone_and_its_twins_are_merged_without_it() -> None:
    """P20"""
    leaked = f"{BODY} The key is AKIA" + "IOSFODNN7QQEXMPL."
    first, second, third = (stored(f"Title {number}", leaked) for number in range(3))
    assert found(first, second, third) == set()


def test_the_better_sourced_comes_first_then_the_newer() -> None:
    older = stored("Older", BODY, at_ms=NOW_MS - 9 * DAY_MS)
    newer = stored("Newer", BODY, at_ms=NOW_MS - DAY_MS)
    sessions = tuple(Source(Harness.AMP, f"T-{number}", turns=(1,)) for number in range(2))
    sourced = stored("Sourced", BODY, at_ms=NOW_MS - 30 * DAY_MS, sources=sessions)
    for order in permutations((older, newer, sourced)):
        (twins,) = twins_among(order)
        assert [each.meta.title for each in twins] == ["Sourced", "Newer", "Older"]


def test_a_merge_has_the_words_of_the_first_and_the_links_of_all() -> None:
    first = stored("First", f"{BODY}\n\nSee also: [[id__c3d4e5]]", at_ms=NOW_MS, description="Sundays")
    second = stored("Second", f"{BODY}\n\nSee also: [[id__aaaaaa]], [[id__c3d4e5]]")
    merge = merge_of((first, second))
    assert (merge.ids, merge.title, merge.description) == ((first.meta.id, second.meta.id), "First", "Sundays")
    assert merge.body == f"{BODY}\n\nSee also: [[id__c3d4e5]], [[id__aaaaaa]]"
    assert merge.drops == ()


@pytest.mark.parametrize(
    "title", ["About utf8 and minor7", "Never on a Sunday", "30s at most", "2026-02-13, read-only"]
)
def test_whatever_the_plan_check_asks_for_is_named(title: str) -> None:
    twins = (stored("Reset of staging", BODY), stored(title, BODY))
    merge = merge_of(twins)
    said = f"{merge.title}\n{merge.body}"
    assert lost_content((said_by(each.entry) for each in twins), said, merge.drops) == ()
    assert lost_content((said_by(each.entry) for each in twins), said) != ()
