"""What goes to the archive by the clock and by a person's caps, whatever an agent says."""

from __future__ import annotations

from typing import Any

from agent_memory.rules.findings import Analysis, Finding, FindingKind
from agent_memory.rules.plan import Archive, DefragFacts, DefragPlan, DefragProposal, Due, Edit, Merge, fingerprint_of
from agent_memory.rules.plan_defrag import ids_to_read, plan_defrag
from agent_memory.rules.tidied import due_archivings
from agent_memory.text.instants import DAY_MS
from defrag_entries import NOW, facts_of, note, reasons, retired

OLD = note("a", "Old", "The fair is in May.", expires_at_ms=NOW - 2 * DAY_MS)
OLDER = note("b", "Older", "The fair was in April.", expires_at_ms=NOW - 9 * DAY_MS)
LASTING = note("c", "Lasting", "The fair is every year.", expires_at_ms=NOW + DAY_MS)
OTHER = note("d", "Other", "The stand is number 4.")
ANOTHER = note("e", "Another", "The van is red.")
ALL = (OLD, OLDER, LASTING, OTHER, ANOTHER)


def due_of(*surplus: str) -> Due:
    found = tuple(Finding(FindingKind.SURPLUS, (id,), "over the cap") for id in surplus)
    return due_archivings([each.listed for each in ALL], Analysis(found), NOW)


def planned(due: Due, *actions: Archive | Edit | Merge, **more: Any) -> DefragPlan:
    """Of an agent that was shown nothing in full, or what `shown` says."""
    facts: DefragFacts = facts_of(*ALL, **{"shown": {}, "at_hand": {each.meta.id: each for each in ALL}, **more})
    return plan_defrag(DefragProposal(tuple(actions)), facts, (), due)


def test_what_has_expired_is_due_the_longest_first() -> None:
    due = due_of(OTHER.meta.id)
    assert due.ids == (OLDER.meta.id, OLD.meta.id, OTHER.meta.id)
    assert due.expired[0].reason == "it expired on 2026-02-04"
    assert ids_to_read(DefragProposal(), (), {}, due) == due.ids


def test_as_many_go_as_are_too_many() -> None:
    due = Due(surplus=due_of(OTHER.meta.id, ANOTHER.meta.id, LASTING.meta.id).surplus)
    assert retired(planned(due)) == [OTHER.meta.id, ANOTHER.meta.id, LASTING.meta.id]
    seen = {OLD.meta.id: OLD}
    agreed = Archive(OLD.meta.id, "it is over")
    assert retired(planned(due, agreed, shown=seen)) == [OLD.meta.id, OTHER.meta.id, ANOTHER.meta.id]


def test_what_an_agent_does_with_an_expired_note_comes_first_and_is_no_quarrel() -> None:
    due = Due(expired=due_of().expired)
    seen = {each.meta.id: each for each in ALL}
    edit = Edit(OLD.meta.id, "in May", "in May 2026", ())
    plan = planned(due, edit, Archive(OLDER.meta.id, "long over"), shown=seen)
    assert [each.kind for each in plan.actions] == ["edit", "archive"]
    assert reasons(plan) == ""


def test_p13_what_is_pinned_or_was_undone_or_is_over_the_limit_stays_without_a_word() -> None:
    pinned = note("a", "Old", "The fair is in May.", expires_at_ms=NOW - 2 * DAY_MS, pinned=True)
    due = Due(expired=due_of().expired)
    undone = fingerprint_of(due.expired[0], {OLDER.meta.id: OLDER.listed.content_hash})
    kept = plan_defrag(
        DefragProposal(),
        facts_of(pinned, OLDER, OTHER, undone=frozenset({undone}), at_hand={OLDER.meta.id: OLDER}),
        (),
        due,
    )
    assert kept == DefragPlan()
    many = tuple(note(letter, letter, letter, expires_at_ms=NOW - 1) for letter in "abcdefgh")
    facts = facts_of(*many, live_at_start=8)
    all_due = due_archivings([each.listed for each in many], Analysis(), NOW)
    assert len(retired(plan_defrag(DefragProposal(), facts, (), all_due))) == 3
    forced = facts_of(*many, live_at_start=8, force=True)
    assert len(retired(plan_defrag(DefragProposal(), forced, (), all_due))) == 7  # P14: the live set is never emptied
