"""The figures of `bench.json` (as `python -m bench --json` writes it), and cells of tables made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

MICRO = 1_000_000
Line = Sequence[tuple[float, float]]

ENGINES = ("index", "FTS5", "tantivy")
SEARCHES = ("search, bm25", "search, hybrid")
SIZES = (1_000, 10_000, 50_000, 100_000, 250_000)
STORE_OF_THEIRS = "agent-memory-store"
THEIRS: Mapping[str, Sequence[float]] = {
    "write": (0.17, 0.19, 0.23, 0.21, 0.25),
    "read": (0.01, 0.05, 0.21, 0.22, 0.85),
    "search (BM25)": (5, 10, 60, 110, 390),
    "list": (0.2, 0.3, 0.3, 0.3, 1.1),
    "state get/set": (0.03, 0.03, 0.07, 0.05, 0.03),
}
"""Its own table of milliseconds at SIZES chunks: Apple Silicon, Node 25, BM25 mode (documentation, 11.1)."""


@frozen
class Measured:
    """The figures of a document by bench, subject, what, and size of the store."""

    figures: Mapping[tuple[str, str, str, int | None], float]
    pieces: Sequence[Mapping[str, Any]]
    machine: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> Measured:
        document = json.loads(text)
        figures = {
            (piece["bench"], each["of"], each["what"], each["notes"]): each["value"]
            for piece in document["pieces"]
            for each in piece["figures"]
        }
        return cls(figures, document["pieces"], document["machine"])

    def get(self, bench: str, of: str, what: str, notes: int | None = None) -> float | None:
        return self.figures.get((bench, of, what, notes))

    def loads(self, bench: str | None = None) -> list[float]:
        """How busy the machine was before and after each piece, or each of one bench."""
        pieces = (piece for piece in self.pieces if bench is None or piece["bench"] == bench)
        return [load for piece in pieces for load in (piece["load_before"], piece["load_after"])]

    def is_quiet(self, bench: str | None = None) -> bool:
        """Whether wall clocks say anything: nothing else was waiting for a processor."""
        return max(self.loads(bench), default=0.0) <= int(self.machine["cpus"])

    def has(self, bench: str) -> bool:
        """Whether anything of it was measured."""
        return any(key[0] == bench for key in self.figures)

    def times(self, bench: str, of: str, what: str, notes: int, base: str) -> str | None:
        """How many times the base's figure it is."""
        value, beside = self.get(bench, of, what, notes), self.get(bench, base, what, notes)
        return None if value is None or not beside else f"{number(value / beside)} times"

    def sizes(self, bench: str) -> list[int]:
        return sorted({key[3] for key in self.figures if key[0] == bench and key[3] is not None})

    def subjects(self, bench: str, what: str) -> list[str]:
        """What has such a figure, in the order in which it was measured."""
        return list(dict.fromkeys(key[1] for key in self.figures if key[0] == bench and key[2] == what))

    def line(self, bench: str, of: str, what: str, factor: float = 1.0) -> Line:
        """The figure by size of the store."""
        found = ((notes, self.get(bench, of, what, notes)) for notes in self.sizes(bench))
        return [(notes, value * factor) for notes, value in found if value is not None]


def head(what: str, sizes: Sequence[int], *further: str) -> str:
    columns = [what, *(f"{size:,} notes" for size in sizes), *further]
    return f"| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}\n"


def row(
    measured: Measured,
    bench: str,
    name: str,
    what: str,
    sizes: Sequence[int],
    unit: str,
    base: str | None = None,
    *,
    with_slope: bool = False,
) -> str:
    """A row of one subject by size, each beside the base's; nothing where it was never measured. The slope is what each note
    costs that the largest store has more than the smallest."""
    values = [measured.get(bench, name, what, size) for size in sizes]
    if not any(value is not None for value in values):
        return ""
    cells = []
    for size, value in zip(sizes, values, strict=True):
        base_value = measured.get(bench, base, what, size) if base and base != name else None
        beside = f" ({ratio(value, base_value)})" if value is not None and base_value else ""
        cells.append("–" if value is None else f"{number(value)} {unit}{beside}")
    if with_slope:
        slope, base_slope = (_slope(measured, bench, of, what, sizes) for of in (name, base or name))
        beside = f" ({ratio(slope, base_slope)})" if base_slope and base != name else ""
        cells.append(f"{number(slope * MICRO)} µs{beside}")
    return f"| {name} | {' | '.join(cells)} |\n"


def _slope(measured: Measured, bench: str, name: str, what: str, sizes: Sequence[int]) -> float:
    """Seconds for each further note; 0 where either end was not measured, and where it costs less than can be seen."""
    least, most = (measured.get(bench, name, what, size) for size in (sizes[0], sizes[-1]))
    return 0.0 if least is None or most is None else max(0.0, (most - least) / (sizes[-1] - sizes[0]))


def named(rows: str, further: str) -> str:
    """The rows, with something after each name."""
    lines = (line.split(" | ", 1) for line in rows.splitlines())
    return "".join(f"{name}, {further} | {rest}\n" for name, rest in lines)


def number(value: float) -> str:
    """Two or three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float, base: float | None) -> str:
    return f"× {number(value / base)}" if base else "–"
