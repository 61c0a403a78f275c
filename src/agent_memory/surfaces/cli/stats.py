"""`memory stats`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from agent_memory.domain.statistics import LARGEST_DAYS, Counts, Days, Statistics
from agent_memory.domain.text.plain_text import one_line
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_number, check_range, set_command
from agent_memory.surfaces.cli.dialogue import open_here
from agent_memory.surfaces.console import Console, fields_of, table_lines

DEFAULT_DAYS = 90
_MOST_NAMES = 8
_LABEL_CHARS = 200


def configure_stats(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--days", f"look at N days, today among them (default {DEFAULT_DAYS})", default=DEFAULT_DAYS)
    epilog = (
        "Days are in UTC. Deliveries and runs are those of this machine; spending is kept for 90 days, the record of "
        "deliveries for as long as it has room. Piped, one number a line, its fields separated by tabs: what is counted, "
        "its name or day, the number."
    )
    set_command(parser, _run, epilog, "memory stats --days 30")


def _run(arguments: argparse.Namespace, console: Console) -> None:
    check_range("--days", arguments.days, 1, LARGEST_DAYS)
    found = unwrap(open_here(console).statistics(arguments.days))
    console.answer(_document(found), *(table(found) if console.is_terminal else plain_lines(found)))


def _document(found: Statistics) -> dict[str, Any]:
    """Days are in UTC and oldest first, every day of the period among them."""
    names = found.period.names
    counts = {name: dict(each) for name, each in found.counts.items()}

    def days(**series: str) -> list[dict[str, Any]]:
        return [
            {"day": day, **{key: found.days[name][at] for key, name in series.items()}} for at, day in enumerate(names)
        ]

    spent = {"calls": "calls", "promptChars": "prompt characters", "replyChars": "reply characters"}
    return {
        "since": names[0],
        "until": names[-1],
        "notes": {
            **fields_of(found, "live", "archived", "unreadable"),
            "kinds": counts["kind"],
            "scopes": counts["scope"],
            "origins": counts["origin"],
            "statuses": counts["status"],
            "tiers": counts["tier"],
            "days": days(created="notes", known="known"),
        },
        "reads": {"ever": found.reads_ever, "harnesses": counts["reads"], "days": days(count="reads")},
        "captures": {"harnesses": counts["captures"], "days": days(count="captures")},
        "deliveries": {"harnesses": counts["deliveries"], "days": days(count="deliveries", tokens="tokens")},
        "spend": {**{key: sum(found.days[name]) for key, name in spent.items()}, "days": days(**spent)},
        "runs": {
            "machines": {machine: dict(results) for machine, results in found.machines.items()},
            "sessions": counts["sessions"],
            "days": days(count="runs", failed="failed runs"),
        },
    }


# -- in words: what is counted, its name, the number --------------------------------------------------------------------


def plain_lines(found: Statistics) -> Iterator[str]:
    """Fields separated by tabs; each day with what came on it, days without anything left out."""
    daily = [
        (f"{what} a day", tuple(zip(found.period.names, amounts, strict=True)))
        for what, amounts in _flows(found).items()
    ]
    for what, counts in (*_totals(found), *((what, tuple(each for each in days if each[1])) for what, days in daily)):
        for name, amount in counts:
            yield f"{what}\t{one_line(name, _LABEL_CHARS)}\t{amount}"


def table(found: Statistics, width_cells: int | None = None) -> list[str]:
    """For a terminal: of each thing the most frequent names, and what the days come to together."""
    period = f"{found.period.names[0]} to {found.period.names[-1]}"
    together = [(what, ((period, sum(amounts)),)) for what, amounts in _flows(found).items()]
    rows = [
        (what, f"{amount:9,}", one_line(name, _LABEL_CHARS))
        for what, counts in (*_totals(found), *together)
        for name, amount in _first(counts)
        if amount or what == "notes"
    ]
    return table_lines(("what", f"{'number':>9}", "of"), rows, width_cells)


def _totals(found: Statistics) -> list[tuple[str, Counts]]:
    return [
        ("notes", (("live", found.live), ("archived", found.archived), ("unreadable", found.unreadable))),
        *found.counts.items(),
        *((f"{machine} runs", results) for machine, results in found.machines.items()),
        ("all reads", (("ever", found.reads_ever),)),
    ]


def _flows(found: Statistics) -> dict[str, Days]:
    """What comes day by day: not what there is in all."""
    return {what: amounts for what, amounts in found.days.items() if what != "known"}


def _first(counts: Counts) -> Counts:
    """The first ones, and all others together."""
    shown = counts if len(counts) <= _MOST_NAMES else counts[: _MOST_NAMES - 1]
    rest = counts[len(shown) :]
    return (*shown, *(((f"{len(rest):,} others", sum(count for _, count in rest)),) if rest else ()))
