"""Single acts in one process that lives on, as an MCP server does: the rows of agent-memory-store's own table.

    python -m bench.operations PLACE NOTES

Part of `bench.index`, on the place that it made. Through the public API over a store of so many notes as files. A write is a
note on disk for good (fsync of file and directory), after a search for notes about the same subject; recording it in git is
switched off. "SQLite write" is one insert and commit (`synchronous=FULL`) into an FTS5 table of the same texts. To list is to
list all of them, after a look at every file; theirs answers a page. Printed are CPU times and, since a write waits for the
disk, the wall clock.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.engines import Fts5
from bench.invented_notes import Texts
from bench.measure import print_table
from bench.results import Figure, keep

from agent_memory.app import Memory, open_memory
from agent_memory.recall.reading import ListFilter
from agent_memory.recall.search_values import Mode, SearchRequest
from agent_memory.rules.drafts import NoteDraft

ROUNDS = 31
"""The first of them is not counted."""
LEAST_ROUNDS = 5
ENOUGH_SECONDS = 4.0
QUERIES_A_NOTE = 8
Act = Callable[[int], object]
"""The n-th time."""


def acts(memory: Memory, baseline: sqlite3.Connection) -> Mapping[str, Act]:
    """What is measured, by name. Each round has a note, a query and a key of its own."""
    texts = Texts.new()
    queries = texts.queries(ROUNDS)
    ids = [each.listed.meta.id for each in memory.reading.list(ListFilter()).unwrap().entries[:ROUNDS]]
    words = iter(texts.queries(2 * ROUNDS * QUERIES_A_NOTE))

    def note() -> str:
        return ". ".join(" ".join(next(words)).capitalize() for _ in range(QUERIES_A_NOTE)) + "."

    def insert(_: int) -> None:
        baseline.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", ("a title", "a tag", "a line", note()))
        baseline.commit()

    return {
        "SQLite write": insert,
        "write": lambda _: memory.service.remember(NoteDraft(note())).unwrap(),
        "read": lambda number: memory.reading.read(ids[number % len(ids)]).unwrap(),
        "search (BM25)": lambda number: memory.search(
            SearchRequest(" ".join(queries[number]), mode=Mode.BM25)
        ).unwrap(),
        "list": lambda _: memory.reading.list(ListFilter()).unwrap(),
        "state set": lambda number: memory.state.set(f"key-{number}", {"step": number}).unwrap(),
        "state get": lambda number: memory.state.get(f"key-{number}").unwrap(),
    }


def timed(act: Act) -> tuple[list[float], list[float]]:
    """Wall-clock and CPU milliseconds of each round: ROUNDS, or as many as take ENOUGH_SECONDS, but LEAST_ROUNDS."""
    wall_ms, cpu_ms = list[float](), list[float]()
    begun = time.process_time()
    for number in range(1, ROUNDS):
        start, cpu_start = time.perf_counter(), time.process_time()
        act(number)
        cpu_ms.append((time.process_time() - cpu_start) * 1000)
        wall_ms.append((time.perf_counter() - start) * 1000)
        if number >= LEAST_ROUNDS and time.process_time() - begun > ENOUGH_SECONDS:
            break
    return sorted(wall_ms), sorted(cpu_ms)


def measure(place: Path, notes: int) -> None:
    root = place / "store"
    settings = place / ".config" / "agent-memory" / "config.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"storage": {"autoCommit": False}}))
    environ = {"HOME": str(place), "AGENT_MEMORY_ROOT": str(root), "PATH": os.environ["PATH"]}
    memory = open_memory(environ, place, print).unwrap()
    memory.reading.list(ListFilter()).unwrap()
    baseline = Fts5(place).connection
    baseline.execute("PRAGMA synchronous = FULL")
    rows = []
    for name, act in acts(memory, baseline).items():
        act(0)  # what is loaded at the first time
        wall_ms, cpu_ms = timed(act)
        p50_ms = statistics.median(cpu_ms)
        rows.append((name, f"{p50_ms:,.2f} ms", f"{cpu_ms[-1]:,.2f} ms", f"{statistics.median(wall_ms):,.2f} ms"))
        keep(
            Figure(name, "act_p50_cpu_ms", round(p50_ms, 4), notes),
            Figure(name, "act_most_cpu_ms", round(cpu_ms[-1], 4), notes),
            Figure(name, "act_p50_ms", round(statistics.median(wall_ms), 4), notes),
        )
    print_table(f"{notes:,} notes: single acts in a living process", ("", "p50 CPU", "most CPU", "p50"), rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path)
    parser.add_argument("notes", type=int)
    arguments = parser.parse_args(argv)
    os.environ["HOME"] = str(arguments.place)
    measure(arguments.place, arguments.notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
