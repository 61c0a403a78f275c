"""The search index beside SQLite's FTS5 and tantivy, on the same texts: build, memory, size, questions, refresh, one cold question.

    python -m bench.index [--notes 1000 10000] [--queries 200] [--runs 3]

The notes are files of a store; the questions are three of their words, joined by OR. Every act is a process of its own, so
that its peak memory is the engine's, and the single acts of agent-memory-store's table follow (`bench.operations`). FTS5 (porter, one column a field) and tantivy (en_stem; left out where it is not
installed) are given the texts from one file: they read no notes. "search" is the whole `Memory.search`, by words alone (bm25)
and by meaning too (hybrid): it looks at every file for changes, ranks by all signals and cuts snippets. What is called cold is
a whole process that opens the index, brings it up to date and asks once, beside the bare interpreter. Times are CPU times, so
that a busy machine counts little; the wall clock is in the figures too.
Goal at 10,000 notes: a cold question within LIMIT bare interpreters plus what listing the directory takes, and a question at
the median within twice FTS5's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen
from bench.engines import SETTLED_SECONDS
from bench.invented_notes import Texts, write_notes
from bench.measure import BARE, COMPARED, MEGA, Took, alternating, compared, median_ms, print_table, run
from bench.results import Figure, keep

from agent_memory.recall.embedding import open_static_vectors

SIZES = (1_000, 10_000)
GOAL_NOTES = 10_000
LIMIT = 12.0
REPOSITORY = Path(__file__).resolve().parents[1]

COLD_INDEX = """
import sys
from pathlib import Path
from agent_memory.recall.note_index import note_index
from agent_memory.recall.search_values import SearchRequest
from agent_memory.note.terms import query_words
index = note_index(sys.argv[1])
index.refresh()
index.match(query_words(sys.argv[2]), 10, SearchRequest("")).unwrap()
"""
COLD_SCAN = """
import os, sys
with os.scandir(sys.argv[1] + "/topics") as found:
    sum(each.stat(follow_symlinks=False).st_size for each in found)
"""
COLD_FTS5 = """
import sqlite3, sys
asked = "SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes, 2, 1, 1, 1) LIMIT 10"
sqlite3.connect(sys.argv[1]).execute(asked, (sys.argv[2],)).fetchall()
"""
COLD_TANTIVY = """
import sys, tantivy
index = tantivy.Index.open(sys.argv[1])
index.searcher().search(index.parse_query(sys.argv[2], ["title", "tags", "description", "body"]), 10)
"""
FILES = {"index": "store/.cache/store.db", "FTS5": "fts5.db", "tantivy": "tantivy"}
SHOWN = {"bm25": "search, bm25", "hybrid": "search, hybrid"}


@frozen
class Place:
    """A store of one size, the same texts for the others, and the questions."""

    path: Path
    notes: int

    @classmethod
    def new(cls, work: Path, texts: Texts, notes: int, query_count: int) -> Place:
        place = cls(work / f"notes-{notes}", notes)
        place.path.mkdir()
        write_notes(place.path / "store", texts.entries(notes), place.path / "texts.jsonl")
        (place.path / "queries.json").write_text(json.dumps(texts.queries(query_count + 1)))
        return place

    def act(self, act: str, engine: str) -> Took:
        """One act of one engine, as a process."""
        command = (sys.executable, "-m", "bench.engines", act, engine, str(self.path))
        return run(command, environ={**os.environ, "HOME": str(self.path)}, cwd=REPOSITORY)

    def operations(self) -> None:
        """Single acts, in a process that prints their table itself."""
        command = (sys.executable, "-m", "bench.operations", str(self.path), str(self.notes))
        print(run(command, environ={**os.environ, "HOME": str(self.path)}, cwd=REPOSITORY).stdout.decode())

    def keep(self, of: str, **values: float) -> None:
        keep(*(Figure(of, what, round(value, 4), self.notes) for what, value in values.items()))


def size_mb(path: Path) -> float:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files) / MEGA


def said(took: Took) -> Any:
    """What the process printed."""
    return json.loads(took.stdout)


def built(place: Place, engines: Sequence[str]) -> None:
    """Each engine's first build, once."""
    rows = []
    for engine in engines:
        took = place.act("build", engine)
        figures = said(took)
        size = size_mb(place.path / FILES[engine])
        place.keep(engine, build_seconds=figures["seconds"], build_cpu_seconds=figures["cpu_seconds"])
        place.keep(engine, build_peak_mb=took.peak_mb, size_mb=size)
        rows.append((engine, f"{figures['cpu_seconds']:,.2f} s", f"{size:,.1f} MB", f"{took.peak_mb:,.0f} MB"))
    print_table(f"{place.notes:,} notes: the first build", ("", "CPU", "size", "peak memory"), rows)


def asked(place: Place, engines: Sequence[str], searches: Sequence[str], runs: int) -> dict[str, float]:
    """The median of the CPU times by engine, in milliseconds; the engines take turns. Searches are asked once."""
    took = alternating({engine: partial(place.act, "ask", engine) for engine in engines}, runs, 0)
    took |= {search: [place.act("ask", search)] for search in searches}
    medians, rows = {}, []
    for engine, each in took.items():
        cpu_ms = sorted(ms for one in each for ms in said(one)["cpu_ms"])
        wall_ms = sorted(ms for one in each for ms in said(one)["ms"])
        peak = max(one.peak_mb for one in each)
        medians[engine] = statistics.median(cpu_ms)
        place.keep(SHOWN.get(engine, engine), query_p50_cpu_ms=medians[engine], query_p95_cpu_ms=late(cpu_ms))
        place.keep(SHOWN.get(engine, engine), query_p50_ms=statistics.median(wall_ms), query_p95_ms=late(wall_ms))
        place.keep(SHOWN.get(engine, engine), query_peak_mb=peak)
        rows.append((SHOWN.get(engine, engine), medians[engine], late(cpu_ms), peak))
    base_ms = medians["FTS5"]
    print_table(
        f"{place.notes:,} notes: questions",
        ("", "p50 CPU", "p95 CPU", "ratio", "peak memory"),
        [
            (name, f"{p50:,.2f} ms", f"{p95:,.2f} ms", f"{p50 / base_ms:.2f}", f"{peak:,.0f} MB")
            for name, p50, p95, peak in rows
        ],
    )
    return medians


def late(sorted_ms: Sequence[float]) -> float:
    """The 95th percentile."""
    return sorted_ms[min(len(sorted_ms) * 95 // 100, len(sorted_ms) - 1)]


def refreshed(place: Place) -> None:
    figures = said(place.act("refresh", "index"))
    place.keep("scandir + stat", refresh_cpu_ms=figures["scan_cpu_ms"])
    place.keep("nothing changed", refresh_cpu_ms=figures["same_cpu_ms"])
    place.keep("one note changed", refresh_cpu_ms=figures["one_cpu_ms"])
    names = {"scandir + stat": "scan_cpu_ms", "nothing changed": "same_cpu_ms", "one note changed": "one_cpu_ms"}
    print_table(
        f"{place.notes:,} notes brought up to date",
        ("", "CPU", "ratio"),
        [
            (name, f"{figures[key]:,.1f} ms", f"{figures[key] / figures['scan_cpu_ms']:.1f}")
            for name, key in names.items()
        ],
    )


def cold(place: Place, engines: Sequence[str], runs: int) -> bool:
    """Whole processes; whether ours is within its goal."""
    query = " ".join(json.loads((place.path / "queries.json").read_text())[0])
    commands = {
        "bare python": BARE,
        "scandir + stat": (sys.executable, "-c", COLD_SCAN, str(place.path / "store")),
        "index": (sys.executable, "-c", COLD_INDEX, str(place.path / "store"), query),
        "FTS5": (sys.executable, "-c", COLD_FTS5, str(place.path / "fts5.db"), " OR ".join(query.split())),
        "tantivy": (sys.executable, "-c", COLD_TANTIVY, str(place.path / "tantivy"), query),
    }

    def of(command: Sequence[str]) -> Callable[[], Took]:
        return lambda: run(command)

    measured = {name: of(command) for name, command in commands.items() if name not in FILES or name in engines}
    took = alternating(measured, 2 * runs + 1)
    print_table(f"{place.notes:,} notes: one cold question", COMPARED, compared(took, "bare python"))
    for name, each in took.items():
        place.keep(name, cold_ms=median_ms(each), cold_cpu_ms=1000 * statistics.median(one.cpu_seconds for one in each))
    medians = {name: median_ms(each) for name, each in took.items()}
    return medians["index"] <= LIMIT * medians["bare python"] + medians["scandir + stat"]


def measured(place: Place, runs: int) -> bool:
    """One size; whether it is within the goals."""
    engines = ["index", "FTS5", *(["tantivy"] if importlib.util.find_spec("tantivy") else [])]
    built(place, engines)
    time.sleep(SETTLED_SECONDS)
    searches = ["bm25", *(["hybrid"] if not isinstance(open_static_vectors(None), str) else [])]
    for search in searches:  # vectors, listings: what a first search leaves behind
        place.act("build", search)
    medians = asked(place, engines, searches, runs)
    is_cold_within = cold(place, engines, runs)
    refreshed(place)
    place.operations()
    return place.notes != GOAL_NOTES or (is_cold_within and medians["index"] <= 2 * medians["FTS5"])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args(argv)
    texts, within = Texts.new(), []
    for notes in arguments.notes:
        work = Path(tempfile.mkdtemp(prefix="agent-memory-bench-"))
        try:
            within.append(measured(Place.new(work, texts, notes, arguments.queries), arguments.runs))
        finally:
            shutil.rmtree(work)
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
