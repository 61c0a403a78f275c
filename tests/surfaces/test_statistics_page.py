"""The page of `memory stats`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from wcwidth import wcswidth

from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.entry import Meta
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.statistics import Period, Statistics, StoreFacts, statistics_of
from agent_memory.domain.usage import DayReads
from agent_memory.domain.vocabulary import Status, Tier
from agent_memory.surfaces.cli.stats import plain_lines, statistics_lines

TODAY = 20_497
NOW_MS = TODAY * DAY_MS + 5
EMPTY = StoreFacts((), (), 0, (), 0, (), (), (), ())
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
    facts = StoreFacts(
        notes,
        (),
        1,
        (DayReads(TODAY, "codex", 123_456), DayReads(TODAY - 1, "amp", 2)),
        123_458,
        (DaySpend("2026-02-13", 3, 123_456_789, 12),),
        (("amp", NOW_MS),),
        (),
        runs,
    )
    return statistics_of(facts, Period(TODAY, days))


def page(found: Statistics, width: int = 80, *, colour: bool = False) -> str:
    return "\n".join(statistics_lines(found, width, colour=colour))


def test_the_page_shows_numbers() -> None:
    shown = page(full(7)).splitlines()
    assert shown[0] == "2026-02-07 to 2026-02-13"
    assert "notes  5 live, 0 archived, 1 unreadable" in shown
    assert [line.split() for line in shown if line.startswith("  codex")] == [["codex", "123,456"]]
    assert any(line.startswith("  characters sent") and "123,456,789" in line for line in shown)
    assert any(line.startswith("  consolidate failed") for line in shown)


@settings(max_examples=40)
@given(st.integers(20, 200), st.integers(1, 400))
def test_no_line_is_wider_than_the_terminal_and_nothing_controls_it(width: int, days: int) -> None:
    for line in page(full(days), width).splitlines():
        assert 0 <= wcswidth(line) <= max(width, 24)


@pytest.mark.parametrize("found", [full(), statistics_of(EMPTY, Period(TODAY, 3))], ids=["full", "empty"])
def test_a_pipe_gets_three_fields_a_line(found: Statistics) -> None:
    lines = list(plain_lines(found))
    assert all(len(line.split("\t")) == 3 and line.isprintable() is False for line in lines)
    assert all("\x1b" not in line and line.split("\t")[2].isdecimal() for line in lines)
    assert f"notes\tlive\t{found.live}" in lines
    assert ("reads a day\t2026-02-13\t123456" in lines) is (found.live > 0)
