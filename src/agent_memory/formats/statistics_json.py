"""Statistics as a JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.domain.statistics.period import Period
from agent_memory.domain.statistics.statistics import ArrivalCounts, Days, Statistics


def statistics_document(found: Statistics) -> dict[str, Any]:
    """Days are in UTC and oldest first, every day of the period among them."""
    period, notes, spend = found.period, found.notes, found.spend
    return {
        "since": period.names[0],
        "until": period.names[-1],
        "notes": {
            "live": notes.live,
            "archived": notes.archived,
            "unreadable": notes.unreadable,
            "kinds": dict(notes.kinds),
            "scopes": dict(notes.scopes),
            "origins": dict(notes.origins),
            "statuses": dict(notes.statuses),
            "tiers": dict(notes.tiers),
            "days": _days(period, {"created": notes.created, "known": notes.known}),
        },
        "reads": {
            "ever": found.reads.ever,
            "harnesses": dict(found.reads.readers),
            "days": _days(period, {"count": found.reads.days}),
        },
        "captures": _arrivals(period, found.captures),
        "deliveries": {
            **_arrivals(period, found.deliveries),
            "days": _days(period, {"count": found.deliveries.days, "tokens": found.delivered_tokens}),
        },
        "spend": {
            "calls": sum(spend.calls),
            "promptChars": sum(spend.prompt_chars),
            "replyChars": sum(spend.reply_chars),
            "days": _days(
                period, {"calls": spend.calls, "promptChars": spend.prompt_chars, "replyChars": spend.reply_chars}
            ),
        },
        "runs": {
            "machines": {each.machine: dict(each.results) for each in found.runs},
            "sessions": dict(found.sessions),
            "days": _days(period, {"count": found.run_days, "failed": found.failed_run_days}),
        },
    }


def _arrivals(period: Period, arrivals: ArrivalCounts) -> dict[str, Any]:
    return {"harnesses": dict(arrivals.harnesses), "days": _days(period, {"count": arrivals.days})}


def _days(period: Period, series: Mapping[str, Days]) -> list[dict[str, Any]]:
    columns = zip(*series.values(), strict=True)
    return [
        {"day": day, **dict(zip(series, amounts, strict=True))}
        for day, amounts in zip(period.names, columns, strict=True)
    ]
