"""What the built-in proposes for a store."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.actions import Archive, Merge, fingerprint_of, ids_of
from agent_memory.domain.defragging.tidied import tidied
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.plan import max_changes
from agent_memory.domain.vocabulary import Kind, Sensitivity
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

FILLERS = tuple(stored(f"Note {number}", f"Thing {number} stands on shelf {number}.") for number in range(12))


def handoff(title: str, days_left: int, **fields: Any) -> StoredEntry:
    return stored(title, kind=Kind.HANDOFF, expires_at_ms=NOW_MS + days_left * DAY_MS, **fields)


def test_a_store_in_order_needs_no_action() -> None:
    assert tidied(request_of(FILLERS)).actions == ()
    assert tidied(request_of([])).actions == ()


def test_what_expired_is_archived_with_the_day() -> None:
    old, young = handoff("Old", -1), handoff("Young", 1)
    (action,) = tidied(request_of((*FILLERS, old, young))).actions
    assert action == Archive(old.meta.id, "it expired on 2026-02-12")


def test_duplicates_are_merged() -> None:
    twin = stored("Shelf", FILLERS[0].body)
    (action,) = tidied(request_of((*FILLERS, twin))).actions
    assert isinstance(action, Merge)
    assert set(action.ids) == {FILLERS[0].meta.id, twin.meta.id}


@pytest.mark.parametrize("fields", [{"pinned": True}, {"sensitivity": Sensitivity.SECRET}, {"conflicted": True}])
def test_what_no_agent_may_touch_is_not_touched(fields: dict[str, object]) -> None:
    """P13"""
    assert tidied(request_of((*FILLERS, handoff("Old", -1, **fields)))).actions == ()


def test_only_what_was_shown_in_full_is_touched() -> None:
    """P11"""
    old = handoff("Old", -1)
    request = request_of((*FILLERS, old))
    hidden = request_of((*FILLERS, old), shown=FILLERS)
    assert tidied(request).actions
    assert tidied(hidden).actions == ()


def test_what_a_person_has_undone_is_not_proposed_again() -> None:
    old = handoff("Old", -1)
    request = request_of((*FILLERS, old))
    (action,) = tidied(request).actions
    undone = fingerprint_of(action, {each.meta.id: each.content_hash for each in request.live})
    assert tidied(request_of((*FILLERS, old), undone=frozenset({undone}))).actions == ()


def test_what_is_over_a_cap_is_archived_with_the_reason() -> None:
    least = FILLERS[3].meta.id
    over = Finding(FindingKind.SURPLUS, (least,), "limits.maxEntries is 11")
    assert tidied(request_of(FILLERS, [over])).actions == (Archive(least, "limits.maxEntries is 11"),)


@pytest.mark.parametrize("count", [2, 5, 40])
def test_a_store_of_duplicates_is_merged_as_far_as_one_run_may_go(count: int) -> None:
    """P14"""
    twins = [stored(f"Copy {number}", "The same in all of them.") for number in range(count)]
    (merge,) = tidied(request_of(twins)).actions
    assert len(ids_of(merge)) == min(count, max_changes(count))
    (all_of_them,) = tidied(request_of(twins, force=True)).actions
    assert len(ids_of(all_of_them)) == count


@pytest.mark.parametrize("count", [1, 2, 3, 40])
@pytest.mark.parametrize("force", [False, True])
def test_the_live_set_is_never_emptied(count: int, force: bool) -> None:
    """P14"""
    request = request_of([handoff(f"Old {number}", -1) for number in range(count)], force=force)
    actions = tidied(request).actions
    assert len(actions) == (count - 1 if force else min(max_changes(count), count - 1))


ENTRIES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6), st.booleans(), st.sampled_from((None, -2, 0, 3))), max_size=20
).map(
    lambda drawn: {
        entry.meta.id: entry
        for title, body, pinned, days in drawn
        for entry in [
            stored(
                f"Title {title}",
                f"Body number {body} says something.",
                pinned=pinned,
                expires_at_ms=None if days is None else NOW_MS + days * DAY_MS,
            )
        ]
    }
)


@settings(max_examples=60)
@given(ENTRIES, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_and_no_limit_is_passed(entries: dict[str, StoredEntry], random: Random) -> None:
    """P13, P14"""
    one = list(entries.values())
    other = list(one)
    random.shuffle(other)
    proposal = tidied(request_of(one))
    assert tidied(request_of(other)) == proposal
    touched = [id for action in proposal.actions for id in ids_of(action)]
    assert len(touched) == len(set(touched)) <= max_changes(len(one))
    assert not any(entries[id].meta.pinned for id in touched)
    left = len(one) - len(touched) + sum(isinstance(action, Merge) for action in proposal.actions)
    assert left > 0 or not one
