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
from agent_memory.surfaces.console import BOLD, Console, cells_of, cut, styled, terminal_columns

DEFAULT_DAYS = 90
_MOST_NAMES = 8
_MOST_LABEL_CELLS = 40
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
    if console.is_terminal:
        console.out(*statistics_lines(found, terminal_columns(), colour=console.colour))
    else:
        console.answer(_document(found), *plain_lines(found))


def _document(found: Statistics) -> dict[str, Any]:
    """Days are in UTC and oldest first, every day of the period among them."""
    names = found.period.names

    def days(**series: Days) -> list[dict[str, Any]]:
        return [
            {"day": name, **dict(zip(series, amounts, strict=True))}
            for name, amounts in zip(names, zip(*series.values(), strict=True), strict=True)
        ]

    spent = {"calls": found.calls, "promptChars": found.prompt_chars, "replyChars": found.reply_chars}
    return {
        "since": names[0],
        "until": names[-1],
        "notes": {
            "live": found.live,
            "archived": found.archived,
            "unreadable": found.unreadable,
            "kinds": dict(found.kinds),
            "scopes": dict(found.scopes),
            "origins": dict(found.origins),
            "statuses": dict(found.statuses),
            "tiers": dict(found.tiers),
            "days": days(created=found.created, known=found.known),
        },
        "reads": {"ever": found.reads_ever, "harnesses": dict(found.readers), "days": days(count=found.reads)},
        "captures": {"harnesses": dict(found.captured), "days": days(count=found.captures)},
        "deliveries": {
            "harnesses": dict(found.delivered),
            "days": days(count=found.deliveries, tokens=found.tokens),
        },
        "spend": {**{name: sum(amounts) for name, amounts in spent.items()}, "days": days(**spent)},
        "runs": {
            "machines": {machine: dict(results) for machine, results in found.machines},
            "sessions": dict(found.sessions),
            "days": days(count=found.runs, failed=found.failed_runs),
        },
    }


def plain_lines(found: Statistics) -> Iterator[str]:
    """Fields separated by tabs: what is counted, its name or day, the number. Days without anything are left out."""
    totals: list[tuple[str, Counts]] = [
        ("notes", (("live", found.live), ("archived", found.archived), ("unreadable", found.unreadable))),
        ("kind", found.kinds),
        ("scope", found.scopes),
        ("origin", found.origins),
        ("status", found.statuses),
        ("tier", found.tiers),
        ("reads", found.readers),
        ("captures", found.captured),
        ("deliveries", found.delivered),
        *((f"{machine} runs", results) for machine, results in found.machines),
        ("sessions", found.sessions),
    ]
    series: list[tuple[str, Days]] = [
        ("notes a day", found.created),
        ("reads a day", found.reads),
        ("captures a day", found.captures),
        ("deliveries a day", found.deliveries),
        ("calls a day", found.calls),
        ("prompt characters a day", found.prompt_chars),
        ("reply characters a day", found.reply_chars),
        ("runs a day", found.runs),
    ]
    for what, amounts in series:
        counts = tuple(zip(found.period.names, amounts, strict=True))
        totals.append((what, tuple(each for each in counts if each[1])))
    for what, counts in totals:
        for name, amount in counts:
            yield f"{what}\t{one_line(name, _LABEL_CHARS)}\t{amount}"


# -- the page for a terminal ------------------------------------------------------------------------------------------

_Block = tuple[str, str, Counts]
"""A heading, what is said beside it, and what is counted below it."""


def statistics_lines(found: Statistics, width_cells: int, *, colour: bool = False) -> Iterator[str]:
    """Headings, and a name and a number a line below each."""
    blocks = list(_blocks(found))
    rows = [row for _, _, counts in blocks for row in counts]
    number_cells = max((len(f"{amount:,}") for _, amount in rows), default=1)
    label_cells = min(
        max((cells_of(label) for label, _ in rows), default=1),
        max(width_cells - number_cells - 4, 1),
        _MOST_LABEL_CELLS,
    )
    names = found.period.names
    yield f"{names[0]} to {names[-1]}"
    from wcwidth import ljust

    for name, about, counts in blocks:
        yield ""
        beside = cut(about, max(width_cells - cells_of(name) - 2, 1))
        yield f"{styled(BOLD, name, colour=colour)}  {beside}".rstrip()
        for label, amount in counts:
            yield f"  {ljust(cut(label, label_cells), label_cells)}  {f'{amount:,}'.rjust(number_cells)}"


def _blocks(found: Statistics) -> Iterator[_Block]:
    unreadable = f", {found.unreadable:,} unreadable" if found.unreadable else ""
    about = f"{found.live:,} live, {found.archived:,} archived{unreadable}"
    yield "notes", about, (("all", found.known[-1]), ("new", sum(found.created)))
    if found.live:
        yield "by tier", "", _first(found.tiers)
        yield "by kind", "", _first(found.kinds)
        yield "by scope", "", _first(found.scopes)
        yield "by origin", "", _first(found.origins)
        yield "by status", "", _first(found.statuses)
    tokens = sum(found.tokens)
    yield _flow("reads", found.reads, found.readers, f"{found.reads_ever:,} ever")
    yield _flow("captures", found.captures, found.captured)
    yield _flow("deliveries", found.deliveries, found.delivered, f"about {tokens:,} tokens" if tokens else "")
    if calls := sum(found.calls):
        sent, back = sum(found.prompt_chars), sum(found.reply_chars)
        yield "agent command", "", (("calls", calls), ("characters sent", sent), ("characters back", back))
    else:
        yield "agent command", "no call in these days", ()
    if runs := sum(found.runs):
        failed = sum(found.failed_runs)
        results = tuple((f"{machine} {result}", count) for machine, each in found.machines for result, count in each)
        verdicts = tuple((f"session {verdict}", count) for verdict, count in found.sessions)
        failures = (("failed or paused", failed),) if failed else ()
        yield "runs", "", (("all", runs), *failures, *_first(results), *_first(verdicts))
    else:
        yield "runs", "none in these days", ()


def _flow(name: str, days: Days, harnesses: Counts, about: str = "") -> _Block:
    a_week = sum(days) * 7 / len(days)
    if not a_week:
        return name, "; ".join(each for each in ("none in these days", about) if each), ()
    often = f"{a_week:,.1f} a week" if a_week < 10 else f"{round(a_week):,} a week"
    return name, "; ".join(each for each in (often, about) if each), (("all", sum(days)), *_first(harnesses))


def _first(counts: Counts) -> Counts:
    """The first ones, and all others together."""
    shown = counts if len(counts) <= _MOST_NAMES else counts[: _MOST_NAMES - 1]
    rest = counts[len(shown) :]
    others = ((f"{len(rest):,} others", sum(count for _, count in rest)),) if rest else ()
    return (*((one_line(name, _LABEL_CHARS), count) for name, count in shown), *others)
