"""What was spent on the agent command: calls and characters of each UTC day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from attrs import evolve, frozen

KEPT_DAYS = 90


@frozen
class DaySpend:
    """The calls of one UTC day and the characters that went each way."""

    day: str
    """`2026-02-13`."""
    calls: int = 0
    prompt_chars: int = 0
    reply_chars: int = 0


Spend = tuple[DaySpend, ...]
"""One element a day, oldest first."""


def day_of(at_ms: int) -> str:
    """The UTC day of an instant, as `2026-02-13`."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%d")


def spend_on(spend: Spend, day: str) -> DaySpend:
    """What was spent on a day; nothing on a day that is not listed."""
    return next((each for each in spend if each.day == day), DaySpend(day))


def with_added(spend: Spend, day: str, *, calls: int = 0, prompt_chars: int = 0, reply_chars: int = 0) -> Spend:
    """The spend with these amounts added to a day (negative ones taken back, never below 0).

    Days more than `KEPT_DAYS` before that one are dropped. A later day, left by a clock that ran ahead, stays.
    """
    old = spend_on(spend, day)
    new = evolve(
        old,
        calls=max(0, old.calls + calls),
        prompt_chars=max(0, old.prompt_chars + prompt_chars),
        reply_chars=max(0, old.reply_chars + reply_chars),
    )
    oldest = (datetime.fromisoformat(day) - timedelta(days=KEPT_DAYS)).strftime("%Y-%m-%d")
    others = (each for each in spend if each.day != day and each.day >= oldest)
    return tuple(sorted((*others, new), key=lambda each: each.day))
