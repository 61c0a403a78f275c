"""Periods, days and ages as people write and read them."""

from __future__ import annotations

import pytest

from agent_memory.cli.console import expiry_of
from agent_memory.cli.dialogue import short_age, time_until
from agent_memory.errors import UsageInvalid
from agent_memory.rules.drafts import Expiry
from agent_memory.text.instants import DAY_MS, HOUR_MS, ms_of

NOW_MS = ms_of("2026-02-13T14:30:00") or 0


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("30d", NOW_MS + 30 * DAY_MS),
        (" 12h ", NOW_MS + 12 * HOUR_MS),
        ("2026-02-13", ms_of("2026-02-13T23:59:59.999")),
        ("2026-12-31", ms_of("2026-12-31T23:59:59.999")),
        ("2026-02-13T15:00:00Z", NOW_MS + HOUR_MS // 2),
        ("never", None),
    ],
)
def test_when_a_note_expires(text: str, at_ms: int | None) -> None:
    assert expiry_of(text, NOW_MS) == Expiry(at_ms)


@pytest.mark.parametrize("text", ["", "30", "-3d", "2026-02-30", "2026-02-12", "999999y"])
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    with pytest.raises(UsageInvalid) as refused:
        expiry_of(text, NOW_MS)
    assert refused.value.problem.startswith(f"--expires is {text!r}, ")


@pytest.mark.parametrize(
    ("seconds", "past", "future"),
    [
        (-5, "just now", "now"),
        (59, "just now", "now"),
        (60, "1 min ago", "in 1 min"),
        (7_199, "1 h ago", "in 1 h"),
        (3 * 86_400, "3 d ago", "in 3 d"),
        (65 * 86_400, "2 mo ago", "in 2 mo"),
        (800 * 86_400, "2 y ago", "in 2 y"),
    ],
)
def test_a_time_is_told_in_the_largest_unit_that_fits(seconds: int, past: str, future: str) -> None:
    assert short_age(0, seconds * 1000) == past
    assert time_until(seconds * 1000, 0) == future
