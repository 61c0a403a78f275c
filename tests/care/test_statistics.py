"""What is known and was spent, counted."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from agent_memory.care.statistics import Statistics, period_of, statistics_of
from agent_memory.note.note import Kind, Meta, Origin, Status, Tier
from agent_memory.recall.delivery_log import Delivery
from agent_memory.rules.agent_request import DaySpend, Spend, with_added
from agent_memory.rules.run_log import LoggedRun, LoggedSession
from agent_memory.store.usage_ledger import DayReads
from agent_memory.text.instants import DAY_MS, day_of

TODAY = 20_497
PERIOD = period_of(TODAY, 4)


def found_in(**facts: Any) -> Statistics:
    nothing: dict[str, Any] = dict.fromkeys(("notes", "archived", "reads", "captures", "deliveries", "runs"), ())
    return statistics_of(PERIOD, **{**nothing, "unreadable": 0, "reads_ever": 0, "spend": {}, **facts})


def at(day: int) -> int:
    return day * DAY_MS + 1


def note(day: int, tier: Tier = Tier.COLD, status: Status = Status.CAPTURED, **meta: Any) -> tuple[Meta, Status, Tier]:
    return (Meta("id__a1b2c3", "A title", at(day), at(TODAY), **meta), status, tier)


def run(day: int, machine: Any = "consolidate", result: str = "completed", *verdicts: str) -> LoggedRun:
    sessions = tuple(LoggedSession("amp", "s", verdict, "", (), ()) for verdict in verdicts)
    return LoggedRun(f"run-{day}", machine, at(day), None, result, "", sessions=sessions)


def test_notes_are_counted_by_what_they_are() -> None:
    notes = (
        note(TODAY, Tier.HOT, Status.PROMOTED, kind=Kind.LESSON, origin=Origin.USER),
        note(TODAY, kind=Kind.TASK, origin=Origin.EXTERNAL, scope="github.com/ada/lamp"),
        note(TODAY, kind=Kind.LESSON, origin=Origin.USER),
    )
    found = found_in(notes=notes, unreadable=2)
    assert (found.live, found.unreadable) == (3, 2)
    assert found.counts["kind"] == (("lesson", 2), ("task", 1))
    assert found.counts["scope"] == (("global", 2), ("github.com/ada/lamp", 1))
    assert found.counts["origin"] == (("user", 2), ("agent", 0), ("external", 1))
    assert found.counts["status"] == (("captured", 2), ("consolidated", 0), ("promoted", 1))
    assert found.counts["tier"] == (("hot", 1), ("warm", 0), ("cold", 2))


def test_what_is_archived_was_new_once() -> None:
    found = found_in(notes=(note(TODAY - 9), note(TODAY - 1), note(TODAY)), archived=(note(TODAY - 1)[0], note(3)[0]))
    assert (found.live, found.archived) == (3, 2)
    assert found.days["notes"] == (0, 0, 2, 1)
    assert found.days["known"] == (2, 2, 4, 5)


def test_reads_are_counted_by_reader_within_the_period() -> None:
    reads = (DayReads(TODAY - 9, "amp", 99), DayReads(TODAY - 1, "amp", 2), DayReads(TODAY, "codex", 3))
    found = found_in(reads=reads, reads_ever=104)
    assert (found.reads_ever, found.counts["reads"], found.days["reads"]) == (
        104,
        (("codex", 3), ("amp", 2)),
        (0, 0, 2, 3),
    )


def test_spending_falls_on_its_days_and_a_day_that_is_none_on_none() -> None:
    spend = {"not a day": DaySpend(9, 9, 9), "2026-02-10": DaySpend(1, 10, 5), "2026-02-13": DaySpend(2, 40, 7)}
    found = found_in(spend=spend)
    assert (found.days["calls"], found.days["prompt characters"], found.days["reply characters"]) == (
        (1, 0, 0, 2),
        (10, 0, 0, 40),
        (5, 0, 0, 7),
    )


def test_captures_and_deliveries_are_counted_by_harness() -> None:
    captures = (("amp", at(TODAY)), ("codex", at(TODAY)), ("amp", at(TODAY - 1)), ("pi", 1))
    deliveries = (
        Delivery(at(TODAY), "codex", "s", "start", ("id__a1b2c3",), 12),
        Delivery(at(TODAY), "codex", "s", "compact"),
        Delivery(at(TODAY - 9), "amp", "s", "start", ("id__a1b2c3",), 99),
    )
    found = found_in(captures=captures, deliveries=deliveries)
    assert (found.counts["captures"], found.days["captures"]) == ((("amp", 2), ("codex", 1)), (0, 0, 1, 2))
    assert (found.counts["deliveries"], found.days["deliveries"]) == ((("codex", 1),), (0, 0, 0, 1))
    assert found.days["tokens"] == (0, 0, 0, 12)


def test_runs_are_counted_by_machine_and_outcome_and_sessions_by_verdict() -> None:
    runs = (
        run(TODAY, "defrag"),
        run(TODAY, "consolidate", "unfinished"),
        run(TODAY - 1, "consolidate", "paused", "written", "skipped"),
        run(TODAY - 2, "consolidate", "completed", "skipped"),
        run(TODAY - 9, "consolidate", "failed", "written"),
    )
    found = found_in(runs=runs)
    assert [(machine, dict(results)) for machine, results in found.machines.items()] == [
        ("consolidate", {"completed": 1, "paused": 1, "unfinished": 1}),
        ("defrag", {"completed": 1}),
    ]
    assert found.counts["sessions"] == (("skipped", 2), ("written", 1))
    assert (found.days["runs"], found.days["failed runs"]) == ((0, 1, 1, 2), (0, 0, 1, 0))


def test_a_period_ends_today_and_no_day_is_before_1970_p24() -> None:
    assert found_in().names == ("2026-02-10", "2026-02-11", "2026-02-12", "2026-02-13")
    assert list(period_of(1, 90)) == [0, 1]


days = st.integers(0, 200).map(lambda day: day_of(1_700_000_000_000 + day * DAY_MS))


def test_taking_back_more_than_was_spent_leaves_zero() -> None:
    assert with_added({}, "2026-02-13", calls=-1, prompt_chars=-5) == {"2026-02-13": DaySpend()}


@given(st.lists(st.tuples(days, st.integers(0, 9)), max_size=30))
def test_days_are_in_order_and_each_there_once(added: list[tuple[str, int]]) -> None:
    spend: Spend = {}
    for day, calls in added:
        spend = with_added(spend, day, calls=calls)
    listed = list(spend)
    assert listed == sorted(set(listed))
    if added:
        assert spend[added[-1][0]].calls >= added[-1][1]
