"""What search finds, beside plain full-text search: Recall@1/5/10, nDCG@10 and MRR of questions whose answers are known.

    python -m bench.retrieval [DIRECTORY] [--mode bm25 --mode hybrid] [--leave-out] [--json FILE]

Always measured: the hand-written notes of tests/fixtures/retrieval. With a DIRECTORY (or AGENT_MEMORY_DATA, or `data`
beside the checkout's shared fixtures) also, where they are there: `locomo-dev.json`, each turn an entry of one store a
conversation, questions of categories 1 to 4; and `toon-retrieval-corpus.toon` with `toon-gold-queries.json`. Notes are
written as files and asked through `Memory.search`. Baselines of the same run, over title, tags and body: SQLite FTS5 with
all words of the query OR-ed, the same with its Porter stemmer, and that without stop words. `--leave-out` takes the signals away one by one.

Goals, of Recall@10 with words alone: 72 on locomo-dev, 95 on toon, 96 on the hand-written, and no less than the last baseline on
any; by meaning too: 73, 95.5, 100. Exit code 1 where one is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from bench.measure import SHARED, print_table
from bench.results import Figure, keep

from agent_memory.app import Memory, open_memory
from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Harness, Importance, Kind, MemoryEntry, Meta, Source
from agent_memory.note.note_format import render_note
from agent_memory.note.terms import STOP_WORDS
from agent_memory.recall.ranking import WEIGHTS, RankingWeights
from agent_memory.recall.search_values import Mode, SearchRequest
from agent_memory.recall.searching import Searching
from agent_memory.text.ids import mint_id, normal_tags

HAND_WRITTEN = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "retrieval" / "coding_notes.json"
GOALS = {
    ("locomo-dev", Mode.BM25): 72.0,
    ("toon", Mode.BM25): 95.0,
    ("coding", Mode.BM25): 96.0,
    ("locomo-dev", Mode.HYBRID): 73.0,
    ("toon", Mode.HYBRID): 95.5,
    ("coding", Mode.HYBRID): 100.0,
}
CREATED_MS = 1_760_000_000_000
DEPTH = 10
BASELINE = "FTS5 porter, no stop words"
_TOON_FIELDS = re.compile(r"(.*?)\|[^|]*\|([^|]*)\|(20\d\d)(-\d\d-\d\d)?\|")
LEFT_OUT: Mapping[str, RankingWeights] = {
    "no neighbouring turns": evolve(WEIGHTS, near=()),
    "no meaning": evolve(WEIGHTS, meaning=0.0),
    "no links": evolve(WEIGHTS, links=0.0),
    "no kinds and times": evolve(WEIGHTS, asked_for=0.0),
    "words alone": evolve(WEIGHTS, near=(), meaning=0.0, links=0.0, asked_for=0.0, here=0.0, importance=0.0),
}


@frozen
class Question:
    """A query, and the ids of every entry that answers it."""

    query: str
    relevant: frozenset[str]


@frozen
class Corpus:
    """Entries of one store, and questions to it. `group` is the data set that it counts to."""

    group: str
    name: str
    entries: tuple[MemoryEntry, ...]
    questions: tuple[Question, ...]


@frozen
class Quality:
    """Means over questions, in percent."""

    questions: int
    recall_1: float
    recall_5: float
    recall_10: float
    ndcg_10: float
    mrr: float

    def row(self) -> tuple[str, ...]:
        figures = (self.recall_1, self.recall_5, self.recall_10, self.ndcg_10, self.mrr)
        return (str(self.questions), *(f"{figure:.1f}" for figure in figures))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, help="where the data sets are")
    parser.add_argument("--mode", action="append", choices=("bm25", "hybrid", "semantic"), help="may be repeated")
    parser.add_argument("--leave-out", action="store_true", help="take the signals away one by one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    chosen = parser.parse_args(arguments)
    directory = chosen.directory or Path(os.environ.get("AGENT_MEMORY_DATA") or SHARED / "data")
    corpora = [*hand_written(HAND_WRITTEN), *locomo(directory), *toon(directory)]
    modes = [Mode(each) for each in chosen.mode or ("bm25", "hybrid")]
    found = measured(corpora, modes, leave_out=chosen.leave_out)
    rows = [(group, name, *quality.row()) for (group, name), quality in found.items()]
    print_table("Retrieval, in percent", ("data", "search", "questions", "R@1", "R@5", "R@10", "nDCG@10", "MRR"), rows)
    for (group, name), quality in found.items():
        of, measures = f"{group}, {name}", ("recall_1", "recall_5", "recall_10", "ndcg_10", "mrr")
        keep(*(Figure(of, f"{each}_percent", round(getattr(quality, each), 2)) for each in measures))
        keep(Figure(of, "questions", quality.questions))
    if chosen.json is not None:
        document = [
            {"data": group, "search": name, **{each: getattr(quality, each) for each in Quality.__annotations__}}
            for (group, name), quality in found.items()
        ]
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    goals = {
        (group, mode): max(goal, found[group, BASELINE].recall_10 if (group, BASELINE) in found else 0.0)
        for (group, mode), goal in GOALS.items()
    }
    missed = [
        f"{group} {mode}: {found[group, mode].recall_10:.1f} of {goal:.1f}"
        for (group, mode), goal in goals.items()
        if (group, mode) in found and found[group, mode].recall_10 < goal
    ]
    print("\n" + ("missed: " + ", ".join(missed) if missed else "all goals met"))
    return 1 if missed else 0


def measured(
    corpora: Sequence[Corpus], modes: Sequence[Mode], *, leave_out: bool = False
) -> dict[tuple[str, str], Quality]:
    """The quality of every search on every corpus, and in total on every group of several."""
    ranks: dict[tuple[str, str], list[tuple[list[bool], int]]] = {}
    several = {corpus.group for corpus in corpora if corpus.name != corpus.group}
    for corpus in corpora:
        for name, answers in answered(corpus, modes, leave_out=leave_out):
            for group in dict.fromkeys((corpus.name, corpus.group)):
                if group == corpus.group or corpus.group in several:
                    ranks.setdefault((group, name), []).extend(answers)
    return {key: quality_of(answers) for key, answers in sorted(ranks.items(), key=lambda each: each[0][0])}


def answered(
    corpus: Corpus, modes: Sequence[Mode], *, leave_out: bool
) -> Iterator[tuple[str, list[tuple[list[bool], int]]]]:
    """For each search which of its first hits are relevant, and how many are, question by question."""
    for name, tokenizer, skipped in (
        ("FTS5", "unicode61", frozenset[str]()),
        ("FTS5 porter", "porter unicode61", frozenset[str]()),
        (BASELINE, "porter unicode61", STOP_WORDS),
    ):
        table = full_text(corpus, tokenizer)
        yield name, [judged(full_text_ids(table, question.query, skipped), question) for question in corpus.questions]
    with tempfile.TemporaryDirectory() as directory:
        memory = opened(Path(directory), corpus)
        take_in(memory)
        for mode in modes:
            if mode is not Mode.BM25 and isinstance(memory.meanings, str):
                print(f"{corpus.name}: {mode} is left out. {memory.meanings}", file=sys.stderr)
                continue
            asked = [judged(found_ids(memory.search, question, mode), question) for question in corpus.questions]
            yield mode.value, asked
            for left_out, weights in LEFT_OUT.items() if leave_out else ():
                search = searching(memory, mode, weights).search
                asked = [judged(found_ids(search, question, mode), question) for question in corpus.questions]
                yield f"{mode.value}, {left_out}", asked


def take_in(memory: Memory) -> None:
    """Index everything, vectors too. A search waits a second for it at most, which a busy machine may need for less."""
    memory.index.refresh().unwrap()
    if not isinstance(memory.meanings, str):
        memory.meanings.fill().unwrap()


def quality_of(answers: Sequence[tuple[list[bool], int]]) -> Quality:
    """Of each question the ranks of what is relevant among the first ten."""

    def mean(figures: Iterator[float]) -> float:
        return 100 * sum(figures) / len(answers) if answers else 0.0

    def recall(depth: int) -> float:
        return mean(sum(hits[:depth]) / total for hits, total in answers)

    gains = [1 / math.log2(rank + 2) for rank in range(DEPTH)]
    ndcg = mean(
        sum(gain for gain, hit in zip(gains, hits, strict=False) if hit) / sum(gains[:total]) for hits, total in answers
    )
    mrr = mean(1 / (hits.index(True) + 1) if True in hits else 0.0 for hits, _ in answers)
    return Quality(len(answers), recall(1), recall(5), recall(10), ndcg, mrr)


def judged(ids: Sequence[str], question: Question) -> tuple[list[bool], int]:
    return [id in question.relevant for id in ids], len(question.relevant)


def found_ids(search: Any, question: Question, mode: Mode) -> list[str]:
    answer = search(SearchRequest(question.query, limit=DEPTH, mode=mode)).unwrap()
    return [hit.listed.meta.id for hit in answer.hits]


def searching(memory: Memory, mode: Mode, weights: RankingWeights) -> Searching:
    meanings = "" if mode is Mode.BM25 else memory.meanings
    return Searching(memory.store, memory.index, meanings, memory.clock, memory.caller, weights=weights)


def opened(directory: Path, corpus: Corpus) -> Memory:
    """A store with the corpus's entries as files. They are an hour old: what was written just now is read twice."""
    topics = directory / "root" / "topics"
    topics.mkdir(parents=True)
    for entry in corpus.entries:
        path = topics / file_name_of(entry.meta)
        path.write_text(render_note(entry), "utf-8")
        os.utime(path, (path.stat().st_mtime - 3_600,) * 2)
    environ = {"HOME": str(directory), "AGENT_MEMORY_ROOT": str(directory / "root"), "PATH": os.environ["PATH"]}
    return open_memory(environ, directory, print).unwrap()


def full_text(corpus: Corpus, tokenizer: str) -> sqlite3.Connection:
    table = sqlite3.connect(":memory:")
    table.execute(f"CREATE VIRTUAL TABLE notes USING fts5(id UNINDEXED, title, tags, body, tokenize='{tokenizer}')")
    for entry in corpus.entries:
        tags = " ".join(tag.partition("__")[2] for tag in entry.meta.tags)
        table.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", (entry.meta.id, entry.meta.title, tags, entry.body))
    return table


def full_text_ids(table: sqlite3.Connection, query: str, skipped: frozenset[str]) -> list[str]:
    all_words = dict.fromkeys(re.findall(r"\w+", query))
    words = [word for word in all_words if word.lower() not in skipped] or all_words
    if not words:
        return []
    wanted = " OR ".join(f'"{word}"' for word in words)
    sql = "SELECT id FROM notes WHERE notes MATCH ? ORDER BY rank, rowid LIMIT ?"
    return [id for (id,) in table.execute(sql, (wanted, DEPTH))]


def hand_written(path: Path) -> Iterator[Corpus]:
    """The notes of tests/fixtures/retrieval."""
    document = json.loads(path.read_text("utf-8"))
    ids = {note["key"]: mint_id(note["key"], CREATED_MS, ()) for note in document["notes"]}
    successors: dict[str, list[str]] = {}
    for note in document["notes"]:
        if "superseded_by" in note:
            successors.setdefault(note["superseded_by"], []).append(ids[note["key"]])
    entries = []
    for number, note in enumerate(document["notes"]):
        at_ms = CREATED_MS + number * 3_600_000
        session = (Source(Harness.CODEX, note["session"], turns=(note["turn"],)),) if "session" in note else ()
        body = re.sub(r"\[\[([\w-]+)\]\]", lambda link: f"[[{ids[link[1]]}]]", note["body"])
        meta = Meta(
            ids[note["key"]],
            note["title"],
            at_ms,
            at_ms,
            kind=Kind(note["kind"]),
            tags=normal_tags(note["tags"]),
            importance=Importance(note.get("importance", "medium")),
            supersedes=tuple(successors.get(note["key"], ())),
            sources=session,
        )
        entries.append(MemoryEntry(meta, body))
    questions = tuple(
        Question(each["query"], frozenset(ids[key] for key in each["relevant"])) for each in document["questions"]
    )
    yield Corpus("coding", "coding", tuple(entries), questions)


def locomo(directory: Path) -> Iterator[Corpus]:
    """LoCoMo (Maharana et al., ACL 2024): a store for each conversation, an entry for each turn."""
    path = directory / "locomo-dev.json"
    for number, item in enumerate(json.loads(path.read_text("utf-8")) if path.is_file() else (), 1):
        talk, entries = item["conversation"], list[MemoryEntry]()
        ids: dict[str, str] = {}
        for key in sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
            told = datetime.strptime(talk[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            at_ms = int(told.timestamp()) * 1000
            for turn, said in enumerate(talk[key], 1):
                text = f"{said['speaker']}: {said['text']}"
                id = ids[said["dia_id"]] = mint_id(said["dia_id"], at_ms, ())
                source = Source(Harness.MANUAL, key, turns=(turn,))
                meta = Meta(id, text[:80], at_ms, at_ms, valid_from_ms=at_ms, sources=(source,))
                entries.append(MemoryEntry(meta, text))
        asked = [
            Question(each["question"], frozenset(ids[turn] for turn in each["evidence"] if turn in ids))
            for each in item["qa"]
            if each["category"] in (1, 2, 3, 4)
        ]
        name = f"locomo-dev {number}"
        yield Corpus("locomo-dev", name, tuple(entries), tuple(each for each in asked if each.relevant))


def toon(directory: Path) -> Iterator[Corpus]:
    """Notes of the toon-memory project, and its own gold queries."""
    path, gold = directory / "toon-retrieval-corpus.toon", directory / "toon-gold-queries.json"
    if not path.is_file() or not gold.is_file():
        return
    entries = list[MemoryEntry]()
    ids: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines()[2:]:
        if not line.startswith("  "):
            continue
        _, _, key, rest = line.strip().split("|", 3)
        fields = _TOON_FIELDS.match(rest)  # what is said may hold bars of its own
        if fields is None:
            sys.exit(f"{path}: the note {key} cannot be read")
        content, tags, year, day = fields.groups()
        at_ms = int(datetime.fromisoformat(year + (day or "-01-01")).replace(tzinfo=UTC).timestamp()) * 1000
        ids[key] = mint_id(key, at_ms, set(ids.values()))
        meta = Meta(ids[key], key.replace("-", " "), at_ms, at_ms, tags=normal_tags(tags.split(";")))
        entries.append(MemoryEntry(meta, content.replace("\\n", "\n").replace("\\|", "|")))
    queries = json.loads(gold.read_text("utf-8"))["queries"]
    asked = tuple(Question(each["q"], frozenset(ids[key] for key in each["gold"] if key in ids)) for each in queries)
    yield Corpus("toon", "toon", tuple(entries), tuple(each for each in asked if each.relevant))


if __name__ == "__main__":
    sys.exit(main())
