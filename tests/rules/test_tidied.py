"""What the built-in proposes for a store."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind, StoredEntry
from agent_memory.rules.change import max_changes
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.rules.plan import Archive, Merge, fingerprint_of, ids_of
from agent_memory.rules.tidied import due_archivings, tidied
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

FILLERS = tuple(stored(f"Note {number}", f"Thing {number} stands on shelf {number}.") for number in range(12))


def handoff(title: str, days_left: int, **fields: Any) -> StoredEntry:
    return stored(title, kind=Kind.HANDOFF, expires_at_ms=NOW_MS + days_left * DAY_MS, **fields)


def test_what_expired_is_due_with_the_day_and_left_to_that() -> None:
    old, young = handoff("Old", -1), handoff("Young", 1)
    request = request_of((*FILLERS, old, young))
    assert due_archivings(request.live, request.analysis, NOW_MS).expired == (
        Archive(old.meta.id, "it expired on 2026-02-12"),
    )
    assert tidied(request).actions == ()


def test_duplicates_are_merged() -> None:
    twin = stored("Shelf", FILLERS[0].body)
    (action,) = tidied(request_of((*FILLERS, twin))).actions
    assert isinstance(action, Merge)
    assert set(action.ids) == {FILLERS[0].meta.id, twin.meta.id}


def test_what_a_person_has_undone_is_not_proposed_again() -> None:
    twin = stored("Shelf", FILLERS[0].body)
    request = request_of((*FILLERS, twin))
    (action,) = tidied(request).actions
    undone = fingerprint_of(action, {each.meta.id: each.content_hash for each in request.live})
    assert tidied(request_of((*FILLERS, twin), undone=frozenset({undone}))).actions == ()


def test_what_is_over_a_cap_is_due_with_the_reason_and_in_no_tier() -> None:
    least = FILLERS[3].meta.id
    over = Finding(FindingKind.SURPLUS, (least,), "limits.maxEntries is 11")
    request = request_of(FILLERS, [over])
    assert due_archivings(request.live, request.analysis, NOW_MS).surplus == (
        Archive(least, "limits.maxEntries is 11"),
    )
    tiers = tidied(request).tiers
    assert tiers is not None
    assert least not in (*tiers.hot, *tiers.warm)
    assert FILLERS[4].meta.id in (*tiers.hot, *tiers.warm), "positive control"


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
