"""One act of one engine, in a process of its own: `python -m bench.engines ACT ENGINE PLACE`; prints what it took as JSON.

A place holds `store/` (notes as files), `texts.jsonl` (their fields, for engines that read no notes) and `queries.json`.
Engines are imported here and not above, so that the peak memory of the process is the engine's own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

TOP = 10
LEAST_QUESTIONS = 20
ENOUGH_SECONDS = 8.0
COLUMNS = ("title", "tags", "description", "body")
REFRESHES = 3
SETTLED_SECONDS = 2.1
"""A file that was written less than two seconds ago is looked at again."""
_TANTIVY_HEAP_BYTES = 50_000_000


class Engine(Protocol):
    def build(self) -> None:
        """Take in everything, and be durable."""

    def ask(self, words: Sequence[str]) -> object:
        """The best ten for these words, joined by OR."""


class OwnIndex:
    """The index alone, words alone: what FTS5 and tantivy do."""

    def __init__(self, place: Path) -> None:
        from agent_memory.note.terms import query_words
        from agent_memory.recall.note_index import note_index
        from agent_memory.recall.search_values import SearchRequest

        self.index = note_index(place / "store")
        self._match: Callable[[str], Any] = lambda text: self.index.match(
            query_words(text, stretch=False), TOP, SearchRequest("")
        )

    def build(self) -> None:
        self.index.refresh().unwrap()

    def ask(self, words: Sequence[str]) -> object:
        return self._match(" ".join(words)).unwrap()


class WholeSearch:
    """`Memory.search`: ranked by all signals, with snippets; the store is looked at for changes at every question."""

    def __init__(self, place: Path, mode: str) -> None:
        from agent_memory.app import open_memory
        from agent_memory.recall.search_values import Mode, SearchRequest

        environ = {"HOME": str(place), "AGENT_MEMORY_ROOT": str(place / "store"), "PATH": os.environ["PATH"]}
        memory = self.memory = open_memory(environ, place, print).unwrap()
        self.mode = Mode(mode)
        self._search: Callable[[str], Any] = lambda text: memory.search(SearchRequest(text, limit=TOP, mode=self.mode))

    def build(self) -> None:
        """What searches would do a second's worth of at a time: the vectors of all notes, where they are asked for."""
        memory = self.memory
        memory.index.refresh().unwrap()
        if self.mode == "hybrid":
            assert not isinstance(memory.meanings, str), memory.meanings
            memory.meanings.fill().unwrap()
        self.ask(["harbour"])

    def ask(self, words: Sequence[str]) -> object:
        return [hit.snippet for hit in self._search(" ".join(words)).unwrap().hits]


class Fts5:
    """SQLite's own full-text search with Porter's stemmer, a column a field."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.connection = sqlite3.connect(place / "fts5.db")

    def build(self) -> None:
        columns = ", ".join(COLUMNS)
        self.connection.execute(f"CREATE VIRTUAL TABLE notes USING fts5({columns}, tokenize = 'porter')")
        self.connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", texts_of(self.place))
        self.connection.commit()

    def ask(self, words: Sequence[str]) -> object:
        asked = f"SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes, 2, 1, 1, 1) LIMIT {TOP}"
        return self.connection.execute(asked, (" OR ".join(words),)).fetchall()


class Tantivy:
    """tantivy with its English stemmer, a field each."""

    def __init__(self, place: Path) -> None:
        self.place, self.engine = place, importlib.import_module("tantivy")
        path = place / "tantivy"
        self.index: Any = self.engine.Index.open(str(path)) if path.exists() else self._new(path)
        self.searcher = self.index.searcher()

    def _new(self, path: Path) -> Any:
        path.mkdir()
        schema = self.engine.SchemaBuilder()
        for name in COLUMNS:
            schema = schema.add_text_field(name, tokenizer_name="en_stem")
        return self.engine.Index(schema.build(), path=str(path))

    def build(self) -> None:
        writer = self.index.writer(_TANTIVY_HEAP_BYTES)
        for fields in texts_of(self.place):
            writer.add_document(self.engine.Document(**dict(zip(COLUMNS, fields, strict=True))))
        writer.commit()
        writer.wait_merging_threads()

    def ask(self, words: Sequence[str]) -> object:
        return self.searcher.search(self.index.parse_query(" ".join(words), list(COLUMNS)), TOP)


ENGINES: dict[str, Callable[[Path], Engine]] = {
    "index": OwnIndex,
    "FTS5": Fts5,
    "tantivy": Tantivy,
    "bm25": lambda place: WholeSearch(place, "bm25"),
    "hybrid": lambda place: WholeSearch(place, "hybrid"),
}


def texts_of(place: Path) -> Iterator[list[str]]:
    """The fields of each note."""
    with (place / "texts.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def built(engine: Engine, place: Path) -> dict[str, float]:
    start, cpu_start = time.perf_counter(), time.process_time()
    engine.build()
    return {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu_start}


def asked(engine: Engine, place: Path) -> dict[str, list[float]]:
    """Each question once, after a first one that opens everything, or as many as take ENOUGH_SECONDS. Wall-clock and CPU
    times, in milliseconds."""
    first, *others = json.loads((place / "queries.json").read_text("utf-8"))
    begun = time.process_time()
    engine.ask(first)
    took: dict[str, list[float]] = {"ms": [], "cpu_ms": []}
    for words in others:
        start, cpu_start = time.perf_counter(), time.process_time()
        engine.ask(words)
        took["cpu_ms"].append((time.process_time() - cpu_start) * 1000)
        took["ms"].append((time.perf_counter() - start) * 1000)
        if len(took["ms"]) >= LEAST_QUESTIONS and time.process_time() - begun > ENOUGH_SECONDS:
            break
    return took


def brought_up_to_date(engine: Engine, place: Path) -> dict[str, float]:
    """CPU milliseconds for nothing changed, and for one changed note, beside a look at each file; medians."""
    from bench.invented_notes import add_line, some_notes

    def cpu_ms(act: Callable[[], object]) -> float:
        start = time.process_time()
        act()
        return (time.process_time() - start) * 1000

    def scan() -> None:
        with os.scandir(place / "store" / "topics") as found:
            sum(each.stat(follow_symlinks=False).st_size for each in found)

    scans, same, one = [], [], []
    engine.build()
    for path in some_notes(place / "store", REFRESHES):
        time.sleep(SETTLED_SECONDS)
        engine.build()
        scans.append(cpu_ms(scan))
        same.append(cpu_ms(engine.build))
        add_line(path)
        one.append(cpu_ms(engine.build))
    return {
        "scan_cpu_ms": statistics.median(scans),
        "same_cpu_ms": statistics.median(same),
        "one_cpu_ms": statistics.median(one),
    }


ACTS: dict[str, Callable[[Engine, Path], object]] = {"build": built, "ask": asked, "refresh": brought_up_to_date}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=ACTS)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("place", type=Path)
    arguments = parser.parse_args(argv)
    print(json.dumps(ACTS[arguments.act](ENGINES[arguments.engine](arguments.place), arguments.place)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
