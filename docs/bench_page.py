"""`contributing/bench.md`, from the figures of real runs in `contributing/bench.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

NOTES = 10_000
"""The size of the store that most tables are about."""

_THEIRS = {"write": 0.19, "read": 0.05, "search (BM25)": 10, "list": 0.3, "state set": 0.03, "state get": 0.03}
"""What agent-memory-store publishes in its documentation (11.1), in ms at 10,000 chunks: Apple Silicon, Node 25."""

_RECIPES = (
    ("FTS5, all words OR-ed, as agent-memory-store asks it", "54.6", "90.5"),
    ("agent-memory-store's hybrid: FTS5, MiniLM, reciprocal ranks", "60.0", "–"),
    ("BM25, stemming, stop words", "63.1", "91.3"),
)
"""Recall@10 of throw-away scripts on the same sets: whoever prepared the sets measured them."""

_WRITING = ("generate-agents-md", "defrag --dry-run", "doctor", "remember", "consolidate one session")
"""The commands that the table of hooks and reading commands lacks."""


def bench_page(notice: str, path: Path) -> str:
    """The page, with what was measured."""
    document = json.loads(path.read_text("utf-8"))
    figures = {
        (piece["bench"], each["of"], each["what"], each["notes"]): each["value"]
        for piece in document["pieces"]
        for each in piece["figures"]
    }

    def column(bench: str, what: str, notes: int | None = None) -> dict[str, float]:
        """The figures of one kind by what they are of, in the order in which they were measured."""
        return {key[1]: value for key, value in figures.items() if (key[0], key[2], key[3]) == (bench, what, notes)}

    parts = {
        "index": (_index, _acts),
        "commands": (_commands,),
        "scale": (_scale,),
        "bulk": (_bulk,),
        "retrieval": (_retrieval,),
    }
    measured = {piece["bench"] for piece in document["pieces"]}
    told = (part(column) for bench, some in parts.items() if bench in measured for part in some)
    return f"# Figures\n\n{notice}{_how_measured(document)}{''.join(told)}"


def _how_measured(document: Mapping[str, Any]) -> str:
    days = sorted({piece["began_at"][:10] for piece in document["pieces"]})
    machine = document["machine"]
    versions = ", ".join(f"{name} {each}" for name, each in machine.items() if name not in ("system", "cpus"))
    return f"""
`make bench` prints figures for 1,000 and 10,000 notes, `python -m bench --full` for up to 250,000. For this page, run
`python -m bench --json docs/contributing/bench.json index commands scale bulk retrieval`, then `make docs`.

Measured on {", ".join(days)} by {machine["system"]} with {machine["cpus"]} CPUs, {versions}.
Times are CPU times. The machine had other work, so compare the figures of one table and not milliseconds.
"""


def _index(column: Any) -> str:
    rows = {
        "one question, median ms": "query_p50_cpu_ms",
        "first build, s": "build_cpu_seconds",
        "peak memory of the build, MB": "build_peak_mb",
        "size on disk, MB": "size_mb",
        "a process that opens it and asks, ms": "cold_cpu_ms",
    }
    engines = ("index", "FTS5", "tantivy")
    return (
        f"\n## The search index at {NOTES:,} notes\n\n"
        "Notes are files of invented words; a question is three words joined by OR. Our index reads and checks each note; FTS5 (Porter's\n"
        "stemmer) and tantivy (`en_stem`) get the texts from one file.\n\n"
        + _table(
            ("", "ours", *engines[1:]),
            ((name, *(column("index", what, NOTES)[of] for of in engines)) for name, what in rows.items()),
        )
    )


def _acts(column: Any) -> str:
    small, large = (column("index", "act_p50_cpu_ms", notes) for notes in (1_000, NOTES))
    return (
        "\n## Single acts of the MCP server, in ms\n\n"
        "A write is flushed to disk after a search for similar notes; *list* lists all notes, theirs a page. *Theirs* is what\n"
        "agent-memory-store publishes, from another machine.\n\n"
        + _table(
            ("", "1,000 notes", "10,000 notes", "theirs, 10,000"),
            ((of, small[of], large[of], _THEIRS.get(of)) for of in large),
        )
    )


def _commands(column: Any) -> str:
    cpu, peak = (column("commands", what, NOTES) for what in ("p50_cpu_ms", "peak_mb"))
    return f"\n## Commands and hooks at {NOTES:,} notes\n\nWhole processes.\n\n" + _table(
        ("", "ms", "peak MB"),
        ((f"`{of}`", cpu[of], peak[of]) for of in cpu),
    )


def _scale(column: Any) -> str:
    first, again, peak = (
        column("scale", what, 1_000) for what in ("first_cpu_seconds", "again_cpu_seconds", "peak_mb")
    )
    return (
        "\n## Other commands at 1,000 notes, in seconds\n\n"
        "*First* is with nothing committed, indexed or cached.\n\n"
        + _table(
            ("", "first", "again", "peak MB"),
            ((of, first[of], again[of], peak[of]) for of in _WRITING),
        )
    )


def _bulk(column: Any) -> str:
    cpu, peak = column("bulk", "cpu_seconds"), column("bulk", "peak_mb")
    rows = ((of, cpu[of], peak[of]) for of in cpu if of.startswith("consolidate") and "notes" not in of)
    return "\n## Large inputs\n\n" + _table(("", "s", "peak MB"), rows)


def _retrieval(column: Any) -> str:
    recall = column("retrieval", "recall_10_percent")
    ours = (
        ("FTS5", "FTS5"),
        ("FTS5, stemmed, no stop words", "FTS5 porter, no stop words"),
        ("ours, by words", "bm25"),
        ("ours, by meaning too", "hybrid"),
    )
    sets = ("locomo-dev", "toon", "coding")
    rows: list[Sequence[str | float | None]] = [
        (name, *(f"{recall[f'{each}, {of}']:.1f}" for each in sets)) for name, of in ours
    ]
    return (
        "\n## What search finds\n\n"
        "Recall@10 in percent; the sets are in [search.md](../search.md#how-well-it-finds). Our goals are 72, 95 and 96 by words, 73, 95.5 and\n"
        "100 by meaning too. The last rows are quoted from whoever prepared the sets.\n\n"
        + _table(("", *sets), [*rows, *((*recipe, "–") for recipe in _RECIPES)])
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    lines = "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)
    return f"| {' | '.join(head)} |\n|---|{'--:|' * (len(head) - 1)}\n{lines}"


def _cell(value: str | float | None) -> str:
    """The text, or two to three digits that count."""
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
