"""The search index beside SQLite's FTS5 and tantivy, on the same texts: build, refresh, query, size, and one cold question.

    python -m bench.index [--full] [--queries 200]

The notes are files of a store, made of words that are as unevenly frequent as those of any language (Zipf), from a fixed
seed; the questions are three of these words, joined by OR. Engines take turns at each question, in one process. What is
called cold is a whole process that opens the index, brings it up to date and asks once, beside the bare interpreter. FTS5
(porter, one column a field) and tantivy (en_stem) are given the texts in memory: they read no files. tantivy is left out
where it is not installed. By default 1,000 and 10,000 notes; `--full` adds 50,000 and 100,000. Goal at 10,000: a cold
question within LIMIT bare interpreters plus what listing the directory takes, and a query at the median within twice FTS5's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from attrs import frozen
from bench.measure import BARE, COMPARED, MEGA, Took, alternating, compared, print_table, run

from agent_memory.adapters.index.index_files import IndexFiles
from agent_memory.domain.entry import MemoryEntry, Meta, Source
from agent_memory.domain.searching.matching import NoteFilter, TermWeights
from agent_memory.domain.searching.query_words import query_words
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.vocabulary import Harness
from agent_memory.formats.note import render_note

SIZES, FULL_SIZES = (1_000, 10_000), (1_000, 10_000, 50_000, 100_000)
GOAL_NOTES = 10_000
LIMIT = 12.0
CREATED_MS = 1_771_000_205_123
VOCABULARY = 40_000
WORDS_A_BODY = 80
TOP = 10
SYLLABLES = [one + two for one in "bcdfghklmnprstvz" for two in ("a", "e", "i", "o", "u", "an", "er", "ol")]

COLD_INDEX = """
import sys
from pathlib import Path
from agent_memory.adapters.index.index_files import IndexFiles
from agent_memory.domain.searching.matching import NoteFilter, TermWeights
from agent_memory.domain.searching.query_words import query_words
index = IndexFiles(Path(sys.argv[1]))
index.refresh()
index.match(query_words(sys.argv[2]), TermWeights(), 10, NoteFilter()).unwrap()
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

Ask = Callable[[Sequence[str]], object]


@frozen
class Texts:
    """Words by frequency, and notes made of them."""

    words: tuple[str, ...]
    shares: tuple[float, ...]

    @classmethod
    def new(cls) -> Texts:
        chance = random.Random(7)
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            words["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))] = None
        return cls(tuple(words), tuple(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY))))

    def entries(self, count: int) -> Iterator[MemoryEntry]:
        chance = random.Random(count)
        for number in range(count):
            said = chance.choices(self.words, cum_weights=self.shares, k=WORDS_A_BODY + 20)
            title = " ".join(said[:6])
            body = ". ".join(" ".join(said[at : at + 10]).capitalize() for at in range(20, len(said), 10))
            at_ms = CREATED_MS + number
            meta = Meta(
                mint_id(title, at_ms, ()),
                title,
                at_ms,
                at_ms,
                " ".join(said[6:18]),
                tags=tuple(f"topic__{word}" for word in said[18:20]),
                sources=(Source(Harness.AMP, f"T-{number // 20}", turns=(number % 20 + 1,)),),
            )
            yield MemoryEntry(meta, body + ".")

    def queries(self, count: int) -> list[tuple[str, ...]]:
        chance = random.Random(11)
        return [tuple(chance.sample(self.words[20:4_000], 3)) for _ in range(count)]


def fields_of(entry: MemoryEntry) -> tuple[str, str, str, str]:
    meta = entry.meta
    return meta.title, " ".join(tag.partition("__")[2] for tag in meta.tags), meta.description, entry.body


@frozen
class Built:
    """An index that can be asked."""

    name: str
    build_ms: float
    size_mb: float
    ask: Ask
    cold: tuple[str, ...]


def elapsed_ms(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def size_mb(path: Path) -> float:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files) / MEGA


def write_store(root: Path, entries: Sequence[MemoryEntry]) -> None:
    topics = root / "topics"
    topics.mkdir(parents=True)
    for entry in entries:
        (topics / file_name_of(entry.meta)).write_text(render_note(entry))


def own_index(root: Path, query: str) -> tuple[Built, IndexFiles]:
    index = IndexFiles(root)
    build_ms = elapsed_ms(lambda: index.refresh().unwrap())

    def ask(words: Sequence[str]) -> object:
        return index.match(query_words(" ".join(words)), TermWeights(prefix=0, typo=0), TOP, NoteFilter()).unwrap()

    path = root / ".cache" / "search" / "index.db"
    cold = (sys.executable, "-c", COLD_INDEX, str(root), query)
    return Built("index", build_ms, size_mb(path), ask, cold), index


def fts5(path: Path, entries: Sequence[MemoryEntry], query: str) -> Built:
    connection = sqlite3.connect(path)

    def build() -> None:
        connection.execute("CREATE VIRTUAL TABLE notes USING fts5(title, tags, description, body, tokenize = 'porter')")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", map(fields_of, entries))
        connection.commit()

    build_ms = elapsed_ms(build)
    asked = f"SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY bm25(notes, 2, 1, 1, 1) LIMIT {TOP}"

    def ask(words: Sequence[str]) -> object:
        return connection.execute(asked, (" OR ".join(words),)).fetchall()

    cold = (sys.executable, "-c", COLD_FTS5, str(path), " OR ".join(query.split()))
    return Built("FTS5", build_ms, size_mb(path), ask, cold)


def tantivy(path: Path, entries: Sequence[MemoryEntry], query: str) -> Built:
    engine: Any = importlib.import_module("tantivy")
    names = ("title", "tags", "description", "body")
    schema = engine.SchemaBuilder()
    for name in names:
        schema = schema.add_text_field(name, tokenizer_name="en_stem")
    path.mkdir()
    index = engine.Index(schema.build(), path=str(path))

    def build() -> None:
        writer = index.writer()
        for entry in entries:
            writer.add_document(engine.Document(**dict(zip(names, fields_of(entry), strict=True))))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()

    build_ms = elapsed_ms(build)
    searcher = index.searcher()

    def ask(words: Sequence[str]) -> object:
        return searcher.search(index.parse_query(" ".join(words), list(names)), TOP)

    return Built("tantivy", build_ms, size_mb(path), ask, (sys.executable, "-c", COLD_TANTIVY, str(path), query))


def medians_ms(engines: Sequence[Built], queries: Sequence[Sequence[str]]) -> Mapping[str, float]:
    times: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for words in queries:
        for engine in engines:
            times[engine.name].append(elapsed_ms(lambda engine=engine, words=words: engine.ask(words)))  # type: ignore[misc]
    return {name: statistics.median(each) for name, each in times.items()}


def refreshes(index: IndexFiles, root: Path, runs: int = 5) -> list[tuple[str, float]]:
    """No change, and one changed note, beside what looking at each file takes."""

    def scan() -> None:
        with os.scandir(root / "topics") as found:
            sum(each.stat(follow_symlinks=False).st_size for each in found)

    paths = sorted((root / "topics").iterdir())
    scans, same, one = [], [], []
    for number in range(runs):
        index.refresh().unwrap()
        scans.append(elapsed_ms(scan))
        same.append(elapsed_ms(lambda: index.refresh().unwrap()))
        paths[number].write_text(paths[number].read_text() + "\nOne more line.\n")
        one.append(elapsed_ms(lambda: index.refresh().unwrap()))
        time.sleep(2.1)  # a file that was written less than two seconds ago is looked at again
    return [
        ("scandir + stat", statistics.median(scans)),
        ("nothing changed", statistics.median(same)),
        ("one note changed", statistics.median(one)),
    ]


def measured(work: Path, texts: Texts, count: int, query_count: int, *, with_cold: bool) -> bool:
    """One size; whether it is within the goals."""
    entries = list(texts.entries(count))
    root = work / f"store-{count}"
    write_store(root, entries)
    time.sleep(2.1)
    queries = texts.queries(query_count)
    query = " ".join(queries[0])
    own, index = own_index(root, query)
    engines = [own, fts5(work / f"fts5-{count}.db", entries, query)]
    if importlib.util.find_spec("tantivy"):
        engines.append(tantivy(work / f"tantivy-{count}", entries, query))
    medians = medians_ms(engines, queries)
    rows = [
        (each.name, f"{each.build_ms / 1000:,.2f} s", f"{each.size_mb:,.1f} MB", f"{medians[each.name]:,.2f} ms")
        for each in engines
    ]
    print_table(f"{count:,} notes", ("", "build", "size", "query p50"), rows)
    is_fast = medians["index"] <= 2 * medians["FTS5"] or count != GOAL_NOTES
    if with_cold:
        took = refreshes(index, root)
        base = took[0][1]
        print_table(
            f"{count:,} notes brought up to date",
            ("", "median", "ratio"),
            [(name, f"{ms:,.1f} ms", f"{ms / base:.1f}") for name, ms in took],
        )
        is_fast &= cold(root, engines)
    index.close()
    shutil.rmtree(root)
    return is_fast


def cold(root: Path, engines: Sequence[Built]) -> bool:
    """Whole processes."""

    def of(command: Sequence[str]) -> Callable[[], Took]:
        return lambda: run(command)

    subjects = {"bare python": of(BARE), "scandir + stat": of((sys.executable, "-c", COLD_SCAN, str(root)))}
    took = alternating({**subjects, **{each.name: of(each.cold) for each in engines}}, runs=7)
    print_table("one cold question", COMPARED, compared(took, "bare python"))
    medians = {name: statistics.median(each.ms for each in some) for name, some in took.items()}
    return medians["index"] <= LIMIT * medians["bare python"] + medians["scandir + stat"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="50,000 and 100,000 notes too")
    parser.add_argument("--queries", type=int, default=200)
    arguments = parser.parse_args(argv)
    work = Path(tempfile.mkdtemp(prefix="agent-memory-bench-"))
    os.environ["HOME"] = str(work)
    texts = Texts.new()
    try:
        within = [
            measured(work, texts, count, arguments.queries, with_cold=count == GOAL_NOTES)
            for count in (FULL_SIZES if arguments.full else SIZES)
        ]
    finally:
        shutil.rmtree(work)
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
