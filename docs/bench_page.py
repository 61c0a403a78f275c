"""`bench.md` and its charts, from the figures of real runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench_charts import bench_charts
from bench_figures import ENGINES, SEARCHES, SIZES, STORE_OF_THEIRS, THEIRS, Measured, head, named, number, ratio, row

_KNOWN_RECALLS = (
    ("SQLite FTS5, all words OR-ed, as agent-memory-store asks it", "54.6", "90.5"),
    ("MiniSearch as @inosx/agent-memory configures it", "54.0", ""),
    ("agent-memory-store's hybrid: that FTS5, MiniLM, reciprocal ranks", "60.0", ""),
    ("BM25 with stemming and stop-words", "63.1", "91.3"),
    ("BM25 with stemming, and vectors", "68.4", "94–95"),
    ("BM25 with neighbouring turns, session and speaker", "75.7", ""),
    ("the same and MiniLM", "78.0", ""),
    ("weights over all signals, learnt on the same set", "78–80", ""),
)
"""Recall@10 of throw-away scripts on the same sets, for comparison: whoever prepared the sets measured them."""


def bench_pages(notice: str, docs: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names below docs/, and what writes them."""
    path = docs / "contributing" / "bench.json"
    yield "contributing/bench.md", lambda: bench_page(notice, path)
    for name, draw in bench_charts(path).items():
        yield f"contributing/img/{name}", draw


def bench_page(notice: str, path: Path) -> str:
    """The page. A part of which nothing was measured is left out."""
    measured = Measured.of(path.read_text("utf-8"))
    parts = {
        "index": (_index_part, _acts_part),
        "commands": (_commands_part,),
        "scale": (_scale_part,),
        "bulk": (_bulk_part,),
        "retrieval": (_retrieval_part,),
    }
    told = (part(measured) for bench, some in parts.items() if measured.has(bench) for part in some)
    return "# Figures\n\n" + notice + _how_measured(measured) + "".join(told)


def _how_measured(measured: Measured) -> str:
    began = sorted(piece["began_at"] for piece in measured.pieces)
    machine = measured.machine
    names = ("sqlite", "tantivy", "numpy", "wordllama")
    versions = ", ".join(f"{name} {machine[name]}" for name in names if name in machine)
    return f"""
`make bench` prints these tables for 1,000 and 10,000 notes, `python -m bench --full` for up to 250,000; `--json FILE` keeps the
figures. This page and its plots are made of [bench.json](bench.json), the figures of real runs:
`python -m bench --full --json docs/contributing/bench.json index commands scale bulk retrieval`, then `make docs`. A piece that is run again
(`index --notes 250000`) replaces what it measured before.

Measured from {_day_and_time(began[0])} to {_day_and_time(began[-1])} UTC on {machine["system"]} with {machine["cpus"]} CPUs,
Python {machine["python"]}, {versions}.
{_busy(measured)}
Compare what stands in one table: ratios, not milliseconds. Times are CPU times (of a process and its children) unless they are
called wall clock.
{_in_short(measured)}"""


def _day_and_time(began_at: str) -> str:
    return f"{began_at[:10]} {began_at[11:16]}"


def _in_short(measured: Measured) -> str:
    """What most people want to know, in sentences made of the figures."""
    told = []
    sizes = measured.sizes("index")
    for size in dict.fromkeys((sizes[0], 10_000, sizes[-1]) if sizes else ()):
        beside = [
            measured.times("index", "index", what, size, "FTS5") for what in ("query_p50_cpu_ms", "build_cpu_seconds")
        ]
        if None not in beside:
            told.append(
                f"{size:,} notes: a question to the index takes {beside[0]} as long as one to raw FTS5, the first build {beside[1]}."
            )
    for size in measured.sizes("commands"):
        names = ("capture --hook", "search --mode bm25", "inject --hook, SessionStart", "inject --hook, a prompt")
        beside = [measured.times("commands", name, "p50_cpu_ms", size, "python -c pass") for name in names]
        if None not in beside:
            told.append(
                f"{size:,} notes, whole processes beside a bare interpreter: `capture --hook` {beside[0]}, search by words "
                f"{beside[1]}, injection at a session's start {beside[2]}, with a prompt {beside[3]}."
            )
    for group in ("locomo-dev", "toon", "coding"):
        recalls = [
            measured.get("retrieval", f"{group}, {name}", "recall_10_percent")
            for name in ("FTS5 porter", "bm25", "hybrid")
        ]
        if None not in recalls:
            told.append(
                f"{group}: of what answers a question, stemmed FTS5 has {recalls[0]:.1f} % among its first ten hits, our search "
                f"by words {recalls[1]:.1f} %, by meaning too {recalls[2]:.1f} %."
            )
    return "\nIn short:\n\n" + "".join(f"- {sentence}\n" for sentence in told) if told else ""


def _busy(measured: Measured) -> str:
    between = f"load {min(measured.loads()):g} to {max(measured.loads()):g}"
    if measured.is_quiet():
        return f"The machine was quiet ({between})."
    return (
        f"The machine was busy with other work for some of that time ({between}): figures are then higher, by up to a half, and "
        "wall clocks, which would say more of that work than of ours, are left out."
    )


def _index_part(measured: Measured) -> str:
    sizes = measured.sizes("index")

    def rows(what: str, names: Sequence[str], unit: str, base: str | None = None) -> str:
        return "".join(row(measured, "index", name, what, sizes, unit, base) for name in names)

    refreshes = ("scandir + stat", "nothing changed", "one note changed")
    colds = measured.subjects("index", "cold_cpu_ms")
    return f"""
## The search index

Notes are files of invented words, as unevenly frequent as those of any language; questions are three words joined by OR. FTS5
(Porter's stemmer, a column a field) and tantivy (`en_stem`) are given the texts from one file and read no notes; our index reads,
checks and cuts every note. In parentheses: how many times as much as FTS5.

One question to the index alone, median:

{head("CPU", sizes)}{rows("query_p50_cpu_ms", ENGINES, "ms", "FTS5")}
The slowest of twenty (p95):

{head("CPU", sizes)}{rows("query_p95_cpu_ms", ENGINES, "ms", "FTS5")}
![One question to an index](img/bench-queries.svg)

The whole `Memory.search`, as it answers: every file looked at for changes, all signals, snippets of ten hits read from their files;
median and p95:

{head("CPU", sizes)}{rows("query_p50_cpu_ms", SEARCHES, "ms")}{named(rows("query_p95_cpu_ms", SEARCHES, "ms"), "p95")}
![One search, in a living process](img/bench-search.svg)

The first build, on disk:

{head("CPU", sizes)}{rows("build_cpu_seconds", ENGINES, "s", "FTS5")}
{head("peak memory of the build", sizes)}{rows("build_peak_mb", ENGINES, "MB", "FTS5")}
{head("peak memory of asking", sizes)}{rows("query_peak_mb", (*ENGINES, *SEARCHES), "MB", "FTS5")}
{head("size on disk", sizes)}{rows("size_mb", ENGINES, "MB", "FTS5")}
![The first build](img/bench-build.svg)

Bringing it up to date, beside a look at each file:

{head("CPU", sizes)}{rows("refresh_cpu_ms", refreshes, "ms", "scandir + stat")}
![Bringing the index up to date](img/bench-refresh.svg)

One cold question: a process that starts, opens the index, brings it up to date and asks; beside a bare interpreter:

{head("CPU", sizes)}{rows("cold_cpu_ms", colds, "ms", "bare python")}"""


def _acts_part(measured: Measured) -> str:
    sizes = measured.sizes("index")
    ours = measured.subjects("index", "act_p50_cpu_ms")
    rows = "".join(row(measured, "index", name, "act_p50_cpu_ms", sizes, "ms") for name in ours)
    waits = ""
    if measured.is_quiet("index"):
        waiting = ("SQLite write", "write", "state set")
        told = "".join(row(measured, "index", name, "act_p50_ms", sizes, "ms") for name in waiting)
        waits = f"{head('wall clock, disk included', sizes)}{told}\n"
    theirs = "".join(f"| {name} | {' | '.join(f'{value:g} ms' for value in row)} |\n" for name, row in THEIRS.items())
    return f"""
## Single acts in a living process

The rows of the table that {STORE_OF_THEIRS} publishes, as our MCP server does them. Our notes are files: a write is a file on disk
for good (fsync), after a search for notes about the same subject, without the commit to git that follows; a search looks at
every file for changes first; to list is to list all notes, theirs answers a page. "SQLite write" is one insert into an FTS5 table.

{head("CPU", sizes)}{rows}
{waits}Theirs, quoted from its documentation (11.1; Apple Silicon, Node 25, SQLite, BM25 mode): another machine, so not to be divided by ours.

{head("", SIZES)}{theirs}"""


def _commands_part(measured: Measured) -> str:
    notes = measured.sizes("commands")[-1]
    base = measured.get("commands", "python -c pass", "p50_cpu_ms", notes)
    base_ms = measured.get("commands", "python -c pass", "p50_ms", notes)
    columns = ["", "CPU", "ratio", "p95 CPU", "peak memory"]
    if measured.is_quiet("commands"):
        columns += ["wall clock", "ratio", "p95 wall clock"]
    rows = []
    for name in measured.subjects("commands", "p50_cpu_ms"):
        cpu, late, wall, late_wall, peak = (
            measured.get("commands", name, what, notes) or 0.0
            for what in ("p50_cpu_ms", "p95_cpu_ms", "p50_ms", "p95_ms", "peak_mb")
        )
        cells = [f"`{name}`", f"{number(cpu)} ms", ratio(cpu, base), f"{number(late)} ms", f"{number(peak)} MB"]
        if measured.is_quiet("commands"):
            cells += [f"{number(wall)} ms", ratio(wall, base_ms), f"{number(late_wall)} ms"]
        rows.append(f"| {' | '.join(cells)} |\n")
    return (
        f"\n## Commands and hooks at {notes:,} notes\n\n"
        "Whole processes, from start to end, taking turns with a bare interpreter; hooks are those of Claude Code:\n"
        "a session begins, is asked something, and is captured. Our goals: a search by words within 6 bare interpreters (60 ms\n"
        "where that takes ten), injection within 10.\n\n"
        f"| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}\n" + "".join(rows)
    )


def _scale_part(measured: Measured) -> str:
    sizes = measured.sizes("scale")
    grows = len(sizes) > 1
    names = measured.subjects("scale", "again_cpu_seconds")
    parts = []
    for at, heading in (
        ("first", "The first time, when nothing is recorded in git, indexed or cached:"),
        ("again", "Again, with nothing changed:"),
        ("one_changed", "After one note was changed by hand, another before each command:"),
    ):
        what = f"{at}_cpu_seconds"
        parts.append(
            f"\n{heading}\n\n{head('CPU', sizes, *(['each further note'] if grows else []))}"
            + "".join(
                row(measured, "scale", name, what, sizes, "s", "look at every note", with_slope=grows) for name in names
            )
        )
    peaks = "".join(row(measured, "scale", name, "peak_mb", sizes, "MB") for name in names)
    return (
        "\n## What grows with the store\n\n"
        "Whole processes. Notes are files that people edit, so whoever wants to know what changed has to look at each from outside\n"
        "(a `stat`), as git does. In parentheses: how many times as much as a process that looks at every note and does nothing else.\n"
        "*Each further note* is the slope from the smallest store to the largest: 0 for what costs only what changed, × 1 for what\n"
        "looks once at every note and costs otherwise only what changed. `remember` and `consolidate` record in git what they wrote:\n"
        "*git add, git commit* is what that takes by itself.\n"
        + "".join(parts)
        + f"\n{head('peak memory', sizes)}{peaks}\n![Commands after one changed note](img/bench-changed.svg)\n"
    )


def _bulk_part(measured: Measured) -> str:
    base = measured.get("bulk", "python -c pass", "cpu_seconds")
    rows = "".join(
        f"| {of} | {number(cpu)} s | {ratio(cpu, base)} | {number(measured.get('bulk', of, 'peak_mb') or 0.0)} MB |\n"
        for of in measured.subjects("bulk", "cpu_seconds")
        if (cpu := measured.get("bulk", of, "cpu_seconds")) is not None
    )
    return (
        "\n## Sizes that nobody should have\n\n"
        "Whole processes, once each (P25: below 200 MB). The ratio is to a bare interpreter.\n\n"
        "| | CPU | ratio | peak memory |\n|---|--:|--:|--:|\n" + rows
    )


def _retrieval_part(measured: Measured) -> str:
    measures = ("recall_1", "recall_5", "recall_10", "ndcg_10", "mrr")
    rows = []
    for of in measured.subjects("retrieval", "questions"):
        values = [measured.get("retrieval", of, f"{each}_percent") or 0.0 for each in measures]
        questions = measured.get("retrieval", of, "questions") or 0
        group, _, name = of.partition(", ")
        if " " not in group:  # one conversation by itself
            rows.append(f"| {group} ({questions:.0f}) | {name} | {' | '.join(f'{value:.1f}' for value in values)} |\n")
    known = "".join(f"| {name} | {locomo} | {toon} |\n" for name, locomo, toon in _KNOWN_RECALLS)
    return (
        "\n## What search finds\n\n"
        "In percent; the sets are in [search.md](../search.md#how-well-it-finds). FTS5 is asked in the\n"
        "same run. Goals of Recall@10: 72 (words) and 76 (meaning too) on locomo-dev, 93 and 95 on toon, 95 on coding.\n\n"
        "| data (questions) | search | R@1 | R@5 | R@10 | nDCG@10 | MRR |\n|---|---|--:|--:|--:|--:|--:|\n"
        + "".join(rows)
        + "\nOthers' recipes on the same sets, Recall@10, quoted from whoever prepared the sets and not measured here:\n\n"
        f"| | locomo-dev | toon |\n|---|--:|--:|\n{known}"
    )
