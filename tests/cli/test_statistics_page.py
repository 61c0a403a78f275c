"""`memory stats` in words."""

from __future__ import annotations

from typing import Any

from agent_memory.care.statistics import Statistics, period_of, statistics_of
from agent_memory.cli.care import rows_of_statistics
from agent_memory.note.note import Meta, Status, Tier
from agent_memory.rules.plan import DaySpend
from agent_memory.rules.run_log import LoggedRun
from agent_memory.store.usage_ledger import DayReads
from agent_memory.text.instants import DAY_MS

TODAY = 20_497
NOW_MS = TODAY * DAY_MS + 5
SCOPES = (
    "global",
    "github.com/ada/lamp",
    "path:/home/ada/東京の倉庫",
    "gitlab.example.com/" + "long/" * 30,
    "a\x1b[31m\tb",
)


def full(days: int = 90) -> Statistics:
    notes = [
        (Meta(f"id__a1b2{at:02}", "T", NOW_MS - at * DAY_MS, NOW_MS, scope=scope), Status.CAPTURED, Tier.COLD)
        for at, scope in enumerate(SCOPES)
    ]
    runs = [LoggedRun("r", "consolidate", NOW_MS, None, result, "") for result in ("completed", "failed")]
    return statistics_of(
        period_of(TODAY, days),
        notes=notes,
        archived=(),
        unreadable=1,
        reads=(DayReads(TODAY, "codex", 123_456), DayReads(TODAY - 1, "amp", 2)),
        reads_ever=123_458,
        spend={"2026-02-13": DaySpend(3, 123_456_789, 12)},
        captures=(("amp", NOW_MS),),
        deliveries=(),
        runs=runs,
    )


def nothing() -> Statistics:
    none: dict[str, Any] = dict.fromkeys(("notes", "archived", "reads", "captures", "deliveries", "runs"), ())
    return statistics_of(period_of(TODAY, 3), unreadable=0, reads_ever=0, spend={}, **none)


def test_each_number_is_a_row() -> None:
    rows = list(rows_of_statistics(full(7)))
    for row in (
        ("notes", "5", "live"),
        ("notes", "1", "unreadable"),
        ("reads", "123,456", "codex"),
        ("consolidate runs", "1", "failed"),
        ("prompt characters", "123,456,789", "2026-02-07 to 2026-02-13"),
        ("all reads", "123,458", "ever"),
    ):
        assert row in rows
    assert list(rows_of_statistics(nothing()))[:3] == [
        ("notes", "0", each) for each in ("live", "archived", "unreadable")
    ]
    assert all(cell.isprintable() for row in rows for cell in row)
