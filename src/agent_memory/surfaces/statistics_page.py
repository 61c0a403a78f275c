"""Statistics for people at a terminal, and for programs at the other end of a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.domain.statistics.statistics import Counts, Days, Statistics
from agent_memory.domain.text.plain_text import one_line
from agent_memory.surfaces.cells import cells_of, cut, padded
from agent_memory.surfaces.plots import Ink, bar, last_of, share_of, sparkline, summed
from agent_memory.values import field, frozen

_BOLD, _PLOT, _PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"
_MOST_CELLS = 100
_LEAST_PLOT_CELLS = 4
_MOST_BARS = 8
_LABEL_CHARS = 200
_INDENT = "  "


@frozen
class Sheet:
    """How a page is drawn."""

    width_cells: int
    ink: Ink
    colour: bool = False


@frozen
class _Row:
    """A label, a plot, and a number."""

    label: str
    amount: int
    most: int = 0
    """Of a bar: the amount that fills it."""
    days: Days = ()
    """Of a sparkline."""
    grows: bool = False
    """The days are not to be added up, as what is known by the end of each."""


@frozen
class _Block:
    """Rows below a heading."""

    name: str
    about: str
    rows: tuple[_Row, ...] = field(default=())


def statistics_lines(found: Statistics, sheet: Sheet) -> list[str]:
    """The page, no line wider than the sheet where that has forty cells or more."""
    blocks = list(_blocks(found))
    width = min(sheet.width_cells, _MOST_CELLS)
    rows = [row for block in blocks for row in block.rows]
    number_cells = max((len(_short(row.amount)) for row in rows), default=1)
    label_cells = min(max((cells_of(row.label) for row in rows), default=1), max(width // 3, 6))
    plot_cells = width - len(_INDENT) - label_cells - number_cells - 4
    share = share_of(found.period.days, plot_cells)
    names = found.period.names
    lines = [f"{names[0]} to {names[-1]}"]
    if plot_cells >= _LEAST_PLOT_CELLS and share > 1:
        lines.append(f"one column for {share} days")
    for block in blocks:
        name = f"{_BOLD}{block.name}{_PLAIN}" if sheet.colour else block.name
        about = cut(block.about, max(width - cells_of(block.name) - len(_INDENT), 1), sheet.ink.ellipsis)
        lines += ["", f"{name}{_INDENT}{about}".rstrip()]
        lines += [_line(row, sheet, label_cells, plot_cells, number_cells, share) for row in block.rows]
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


def _blocks(found: Statistics) -> Iterator[_Block]:
    notes = found.notes
    counted = [f"{notes.live:,} live", f"{notes.archived:,} archived"]
    if notes.unreadable:
        counted.append(f"{notes.unreadable:,} unreadable")
    yield _Block(
        "notes",
        ", ".join(counted),
        (
            _Row("all", notes.known[-1], days=notes.known, grows=True),
            _Row("new", sum(notes.created), days=notes.created),
        ),
    )
    for name, counts in (
        ("by tier", notes.tiers),
        ("by kind", notes.kinds),
        ("by scope", notes.scopes),
        ("by origin", notes.origins),
        ("by status", notes.statuses),
    ):
        if notes.live:
            yield _Block(name, "", _bars(counts))
    yield _flow("reads", found.reads.days, found.reads.readers, f"{found.reads.ever:,} ever")
    yield _flow("captures", found.captures.days, found.captures.harnesses)
    yield _flow("deliveries", found.deliveries.days, found.deliveries.harnesses, _tokens(found.delivered_tokens))
    yield _spend(found)
    yield _runs(found)


def _flow(name: str, days: Days, harnesses: Counts, about: str = "") -> _Block:
    if not sum(days):
        return _Block(name, "; ".join(each for each in ("none in these days", about) if each))
    a_week = sum(days) * 7 / len(days)
    said = f"{a_week:,.1f} a week" if a_week < 10 else f"{round(a_week):,} a week"
    rows = (_Row("all", sum(days), days=days), *_bars(harnesses))
    return _Block(name, "; ".join(each for each in (said, about) if each), rows)


def _tokens(days: Days) -> str:
    return f"about {sum(days):,} tokens" if sum(days) else ""


def _spend(found: Statistics) -> _Block:
    spend = found.spend
    if not sum(spend.calls):
        return _Block("agent command", "no call in these days")
    return _Block(
        "agent command",
        "",
        (
            _Row("calls", sum(spend.calls), days=spend.calls),
            _Row("characters sent", sum(spend.prompt_chars), days=spend.prompt_chars),
            _Row("characters back", sum(spend.reply_chars), days=spend.reply_chars),
        ),
    )


def _runs(found: Statistics) -> _Block:
    if not sum(found.run_days):
        return _Block("runs", "none in these days")
    failed = sum(found.failed_run_days)
    rows = [_Row("all", sum(found.run_days), days=found.run_days)]
    if failed:
        rows.append(_Row("failed or paused", failed, days=found.failed_run_days))
    results = tuple((f"{each.machine} {result}", count) for each in found.runs for result, count in each.results)
    verdicts = tuple((f"session {verdict}", count) for verdict, count in found.sessions)
    return _Block("runs", "", (*rows, *_bars(results), *_bars(verdicts)))


def _bars(counts: Counts) -> tuple[_Row, ...]:
    """The first ones, and all others together."""
    most = max((count for _, count in counts), default=0)
    shown = counts if len(counts) <= _MOST_BARS else counts[: _MOST_BARS - 1]
    rest = counts[len(shown) :]
    rows = [_Row(one_line(name, _LABEL_CHARS), count, most) for name, count in shown]
    if rest:
        rows.append(_Row(f"{len(rest):,} others", sum(count for _, count in rest)))
    return tuple(rows)


def _line(row: _Row, sheet: Sheet, label_cells: int, plot_cells: int, number_cells: int, share: int) -> str:
    label = padded(cut(row.label, label_cells, sheet.ink.ellipsis), label_cells)
    number = _short(row.amount).rjust(number_cells)
    if plot_cells < _LEAST_PLOT_CELLS:
        return f"{_INDENT}{label}{_INDENT}{number}"
    plot = _plot(row, plot_cells, share, sheet.ink)
    drawn = f"{_PLOT}{plot}{_PLAIN}" if sheet.colour and plot else plot
    return f"{_INDENT}{label}{_INDENT}{number}{_INDENT}{drawn}".rstrip()


def _short(amount: int) -> str:
    """In at most six characters, up to billions."""
    if amount < 100_000:
        return f"{amount:,}"
    return f"{amount / 1_000:.0f}k" if amount < 10_000_000 else f"{amount / 1_000_000:,.1f}M"


def _plot(row: _Row, cells: int, share: int, ink: Ink) -> str:
    if row.days:
        return sparkline((last_of if row.grows else summed)(row.days, share), ink)
    return bar(row.amount, row.most, cells, ink)
