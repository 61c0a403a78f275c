"""What is over the caps of a store."""

from __future__ import annotations

from agent_memory.note.note import Importance, Kind, Origin, Sensitivity, StoredEntry, Usage
from agent_memory.rules.change import max_changes
from agent_memory.rules.findings import FindingKind
from agent_memory.rules.tidied import surplus
from defrag_requests import DAY_MS, NOW_MS, request_of, stored

NOTES = tuple(stored(f"Note {number}", "x" * 100, at_ms=NOW_MS - number * 40 * DAY_MS) for number in range(8))


def over(
    notes: tuple[StoredEntry, ...],
    max_entries: int | None = None,
    max_chars: int | None = None,
    usage: dict[str, Usage] | None = None,
    by_kind: dict[str, int] | None = None,
) -> list[str]:
    request = request_of(notes)
    findings = surplus(
        request.live,
        request.analysis.body_chars,
        usage or {},
        max_entries=max_entries,
        max_chars=max_chars,
        max_by_kind=by_kind or {},
        now_ms=NOW_MS,
    )
    titles = {each.meta.id: each.meta.title for each in notes}
    assert all(each.kind is FindingKind.SURPLUS for each in findings)
    return [titles[each.ids[0]] for each in findings]


def test_without_a_cap_or_within_it_nothing_has_to_go() -> None:
    assert over(NOTES) == over(NOTES, 8) == over(NOTES, None, 800) == over((), 1) == []


def test_the_oldest_go_first_where_all_matter_alike() -> None:
    assert over(NOTES, 6) == ["Note 7", "Note 6"]
    assert over(NOTES, None, 650) == ["Note 7", "Note 6"]


def test_a_kind_over_its_cap_loses_its_own_and_what_goes_counts_for_the_whole() -> None:
    tasks = tuple(stored(f"Task {number}", kind=Kind.TASK, at_ms=NOW_MS - number * DAY_MS) for number in range(3))
    assert over((*NOTES, *tasks), by_kind={"task": 2}) == over((*NOTES, *tasks), 10, by_kind={"task": 2}) == ["Task 2"]
    assert over((*NOTES, *tasks), 9, by_kind={"task": 2}) == ["Task 2", "Note 7"]
    assert over((*NOTES, *tasks), by_kind={"task": 3, "lesson": 1}) == []


def test_what_is_read_stays_before_what_is_not() -> None:
    usage = {NOTES[7].meta.id: Usage(9, NOW_MS)}
    assert over(NOTES, 7, usage=usage) == ["Note 6"]


def test_a_decision_of_the_person_outlives_what_agents_noted_later() -> None:
    decided = stored("Decided", origin=Origin.USER, kind=Kind.DECISION, at_ms=NOW_MS - 400 * DAY_MS)
    trifle = stored("Trifle", origin=Origin.AGENT, importance=Importance.HIGH, at_ms=NOW_MS)
    passing = stored("Passing", origin=Origin.USER, kind=Kind.HANDOFF, at_ms=NOW_MS - 500 * DAY_MS)
    assert over((decided, trifle, passing), 1) == ["Passing", "Trifle"]


def test_pinned_promoted_secret_and_conflicted_entries_never_have_to_go_p13() -> None:
    kept = (
        stored("Pinned", pinned=True, importance=Importance.LOW),
        stored("Promoted", promoted_by="person", importance=Importance.LOW),
        stored("Secret", sensitivity=Sensitivity.SECRET, importance=Importance.LOW),
        stored("Conflicted", conflicted=True, importance=Importance.LOW),
    )
    assert over(kept, 1) == []
    assert over((*kept, NOTES[0]), 1) == ["Note 0"]


def test_no_more_has_to_go_than_one_run_may_archive_p14() -> None:
    many = tuple(stored(f"Note {number}") for number in range(40))
    assert len(over(many, 1)) == max_changes(40) == 10


def test_the_reason_names_the_cap_and_the_number() -> None:
    request = request_of(NOTES)
    (finding, *_) = surplus(
        request.live, request.analysis.body_chars, {}, max_entries=7, max_chars=None, max_by_kind={}, now_ms=NOW_MS
    )
    assert finding.reason.startswith(
        "limits.maxEntries is 7 and there were 8 live notes; it is among those that matter"
    )
