"""The charts of `bench.md`, in `img/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bench_figures import ENGINES, SEARCHES, SIZES, STORE_OF_THEIRS, THEIRS, Measured
from line_chart import line_chart


def bench_charts(path: Path) -> Mapping[str, Callable[[], str]]:
    """By file name in docs/img, what draws the chart."""

    def drawn(draw: Callable[[Measured], str]) -> Callable[[], str]:
        return lambda: draw(Measured.of(path.read_text("utf-8")))

    return {
        "bench-queries.svg": drawn(_queries_chart),
        "bench-search.svg": drawn(_search_chart),
        "bench-build.svg": drawn(_build_chart),
        "bench-refresh.svg": drawn(_refresh_chart),
        "bench-changed.svg": drawn(_changed_chart),
    }


def _queries_chart(measured: Measured) -> str:
    lines = {name: measured.line("index", name, "query_p50_cpu_ms") for name in ENGINES}
    return line_chart("One question to an index", "notes", "CPU ms, median", lines)


def _search_chart(measured: Measured) -> str:
    lines = {
        "memory search, bm25": measured.line("index", SEARCHES[0], "query_p50_cpu_ms"),
        "memory search, hybrid": measured.line("index", SEARCHES[1], "query_p50_cpu_ms"),
        "raw FTS5": measured.line("index", "FTS5", "query_p50_cpu_ms"),
        STORE_OF_THEIRS: list(zip(SIZES, THEIRS["search (BM25)"], strict=True)),
    }
    return line_chart("One search, in a living process", "notes", "ms, median", lines, (STORE_OF_THEIRS,))


def _build_chart(measured: Measured) -> str:
    lines = {name: measured.line("index", name, "build_cpu_seconds") for name in ENGINES}
    return line_chart("The first build", "notes", "CPU seconds", lines)


def _refresh_chart(measured: Measured) -> str:
    names = ("scandir + stat", "nothing changed", "one note changed")
    lines = {name: measured.line("index", name, "refresh_cpu_ms") for name in names}
    return line_chart("Bringing the index up to date", "notes", "CPU ms, median", lines)


_GROWING = (
    "look at every note",
    "read every note",
    "search --mode bm25",
    "consolidate one session",
    "defrag --dry-run",
    "doctor",
)


def _changed_chart(measured: Measured) -> str:
    lines = {name: measured.line("scale", name, "one_changed_cpu_seconds") for name in _GROWING}
    return line_chart("Commands after one changed note", "notes", "CPU seconds", lines)
