"""`memory stats`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from agent_memory.domain.statistics.period import LARGEST_DAYS
from agent_memory.domain.statistics.statistics import Counts, Days, Statistics
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import UsageInvalid
from agent_memory.formats.statistics_json import statistics_document
from agent_memory.results import unwrap
from agent_memory.surfaces.cells import cells_of, cut, padded, terminal_columns
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

DEFAULT_DAYS = 90
_MOST_NAMES = 8
_MOST_LABEL_CELLS = 40
_LABEL_CHARS = 200


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days",
        type=int,
        default=DEFAULT_DAYS,
        metavar="N",
        help=f"look at N days, today among them (default {DEFAULT_DAYS})",
    )
    parser.epilog = (
        "Days are in UTC. Deliveries and runs are those of this machine; spending is kept for 90 days, the record of "
        "deliveries for as long as it has room. Piped, one number a line, its fields separated by tabs: what is counted, "
        "its name or day, the number."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    days: int = arguments.days
    if not 1 <= days <= LARGEST_DAYS:
        raise UsageInvalid(f"--days is {days}, expected a number from 1 to {LARGEST_DAYS:,}")

    memory = open_here(console)
    found = unwrap(memory.statistics(days))
    if console.json:
        console.document(statistics_document(found))
    elif console.is_terminal:
        console.out("\n".join(statistics_lines(found, terminal_columns(), colour=console.colour)))
    else:
        console.out("\n".join(plain_lines(found)))
    return 0


def statistics_lines(found: Statistics, width_cells: int, *, colour: bool = False) -> list[str]:
    """The page for a terminal: headings, and a name and a number a line below each."""
    blocks = list(_blocks(found))
    rows = [row for _, _, counts in blocks for row in counts]
    number_cells = max((len(f"{amount:,}") for _, amount in rows), default=1)
    label_cells = min(
        max((cells_of(label) for label, _ in rows), default=1),
        max(width_cells - number_cells - 4, 1),
        _MOST_LABEL_CELLS,
    )
    names = found.period.names
    lines = [f"{names[0]} to {names[-1]}"]
    for name, about, counts in blocks:
        heading = f"\x1b[1m{name}\x1b[0m" if colour else name
        lines += ["", f"{heading}  {cut(about, max(width_cells - cells_of(name) - 2, 1))}".rstrip()]
        for label, amount in counts:
            lines.append(f"  {padded(cut(label, label_cells), label_cells)}  {f'{amount:,}'.rjust(number_cells)}")
    return lines


def plain_lines(found: Statistics) -> Iterator[str]:
    """Fields separated by tabs: what is counted, its name or day, the number. Days without anything are left out."""
    notes = found.notes
    totals: list[tuple[str, Counts]] = [
        ("notes", (("live", notes.live), ("archived", notes.archived), ("unreadable", notes.unreadable))),
        ("kind", notes.kinds),
        ("scope", notes.scopes),
        ("origin", notes.origins),
        ("status", notes.statuses),
        ("tier", notes.tiers),
        ("reads", found.reads.readers),
        ("captures", found.captures.harnesses),
        ("deliveries", found.deliveries.harnesses),
        *((f"{each.machine} runs", each.results) for each in found.runs),
        ("sessions", found.sessions),
    ]
    days: list[tuple[str, Days]] = [
        ("notes a day", notes.created),
        ("reads a day", found.reads.days),
        ("captures a day", found.captures.days),
        ("deliveries a day", found.deliveries.days),
        ("calls a day", found.spend.calls),
        ("prompt characters a day", found.spend.prompt_chars),
        ("reply characters a day", found.spend.reply_chars),
        ("runs a day", found.run_days),
    ]
    names = found.period.names
    series = [(what, tuple(zip(names, amounts, strict=True))) for what, amounts in days]
    for what, counts in (*totals, *((what, tuple(each for each in some if each[1])) for what, some in series)):
        for name, amount in counts:
            yield f"{what}\t{one_line(name, _LABEL_CHARS)}\t{amount}"


_Block = tuple[str, str, Counts]
"""A heading, what is said beside it, and what is counted below it."""


def _blocks(found: Statistics) -> Iterator[_Block]:
    notes, spend = found.notes, found.spend
    unreadable = (f"{notes.unreadable:,} unreadable",) if notes.unreadable else ()
    about = ", ".join((f"{notes.live:,} live", f"{notes.archived:,} archived", *unreadable))
    yield "notes", about, (("all", notes.known[-1]), ("new", sum(notes.created)))
    for name, counts in (
        ("by tier", notes.tiers),
        ("by kind", notes.kinds),
        ("by scope", notes.scopes),
        ("by origin", notes.origins),
        ("by status", notes.statuses),
    ):
        if notes.live:
            yield name, "", _first(counts)
    yield _flow("reads", found.reads.days, found.reads.readers, f"{found.reads.ever:,} ever")
    yield _flow("captures", found.captures.days, found.captures.harnesses)
    tokens = sum(found.delivered_tokens)
    yield _flow(
        "deliveries", found.deliveries.days, found.deliveries.harnesses, f"about {tokens:,} tokens" if tokens else ""
    )
    calls = (
        ("calls", sum(spend.calls)),
        ("characters sent", sum(spend.prompt_chars)),
        ("characters back", sum(spend.reply_chars)),
    )
    yield ("agent command", "", calls) if calls[0][1] else ("agent command", "no call in these days", ())
    if runs := sum(found.run_days):
        failed = sum(found.failed_run_days)
        results = tuple((f"{each.machine} {result}", count) for each in found.runs for result, count in each.results)
        verdicts = tuple((f"session {verdict}", count) for verdict, count in found.sessions)
        failures = (("failed or paused", failed),) if failed else ()
        yield "runs", "", (("all", runs), *failures, *_first(results), *_first(verdicts))
    else:
        yield "runs", "none in these days", ()


def _flow(name: str, days: Days, harnesses: Counts, about: str = "") -> _Block:
    a_week = sum(days) * 7 / len(days)
    often = (
        "none in these days" if not a_week else f"{a_week:,.1f} a week" if a_week < 10 else f"{round(a_week):,} a week"
    )
    counts = (("all", sum(days)), *_first(harnesses)) if a_week else ()
    return name, "; ".join(each for each in (often, about) if each), counts


def _first(counts: Counts) -> Counts:
    """The first ones, and all others together."""
    shown = counts if len(counts) <= _MOST_NAMES else counts[: _MOST_NAMES - 1]
    rest = counts[len(shown) :]
    others = ((f"{len(rest):,} others", sum(count for _, count in rest)),) if rest else ()
    return (*((one_line(name, _LABEL_CHARS), count) for name, count in shown), *others)
