"""What the analysis of a store costs, and how much of what is wrong with one it finds.

    python -m bench.analysis [--entries 200 10000] [--runs 3] [--full]

A store of invented notes is written in which one in a hundred is a planted duplicate, one a near duplicate, one contradicts
another, and so on. Measured are whole processes: one that reads every file, one that also parses every note, and one that
analyses what it parses. The second table says how many of the planted findings were found, and how many of those that
were found had been planted; near duplicates and overlaps count as one kind. The planted ones are worded as the rules expect
it, so recall is an upper bound; precision is that on text of random words. `--full` adds 50,000 entries.
Exits 1 where an analysis takes more than GOAL times the parsing, or LIMIT_MB of memory.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations
from pathlib import Path

from attrs import evolve, field, frozen
from bench.measure import COMPARED, Took, alternating, compared, median_ms, peak_mb, print_table, run

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Kind, Listed, MemoryEntry, Meta, StoredEntry
from agent_memory.note.note_format import parse_note, render_note
from agent_memory.rules.analyze import analyze
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.text.ids import mint_id
from agent_memory.text.instants import DAY_MS

GOAL = 30.0
LIMIT_MB = 200
NOW_MS = 1_790_000_000_000
REPOSITORY = Path(__file__).resolve().parents[1]
SHARE = 100
"""One entry in so many is planted, of each kind."""
LIKE = "near-duplicate, overlap"
WORDS = 6_000

Pair = frozenset[str]


@frozen
class Invented:
    """A store, and by kind which entries each planted finding is about."""

    entries: list[MemoryEntry] = field(factory=list)
    planted: dict[str, set[Pair]] = field(factory=lambda: defaultdict(set))


class Author:
    """Writes notes of random words, the same ones every time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        syllables = [a + b for a in "bcdfghjklmnprtvw" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]
        words = {"".join(self.random.choices(syllables, k=3)) for _ in range(2 * WORDS)}
        self.words = sorted(words)[:WORDS]
        self.weights = list(accumulate(1 / (rank + 10) for rank in range(len(self.words))))
        self.taken: set[str] = set()
        self.number = 0

    def some(self, count: int) -> list[str]:
        return self.random.choices(self.words, cum_weights=self.weights, k=count)

    def subject(self) -> str:
        """Three words that hardly any other note has together."""
        return " ".join(self.random.sample(self.words, 3))

    def sentence(self) -> str:
        return f"{' '.join(self.some(self.random.randint(7, 13))).capitalize()}."

    def prose(self, sentences: int) -> str:
        return "\n\n".join(" ".join(self.sentence() for _ in range(2)) for _ in range((sentences + 1) // 2))

    def note(self, title: str, body: str, **meta: object) -> MemoryEntry:
        self.number += 1
        at_ms = NOW_MS - 20 * DAY_MS + self.number
        id = mint_id(title, at_ms, self.taken)
        self.taken.add(id.casefold())
        kinds = (Kind.FACT, Kind.LESSON, Kind.DECISION)
        values = {"kind": self.random.choice(kinds), "tags": (f"topic__{self.some(1)[0]}", "topic__store"), **meta}
        return MemoryEntry(evolve(Meta(id, title, at_ms, at_ms), **values), body)  # type: ignore[arg-type]


def invented(count: int, seed: int = 7) -> Invented:
    """A store of `count` notes with planted findings; the same for the same arguments."""
    author, store = Author(seed), Invented()
    plants: Sequence[tuple[str, Callable[[Author], list[MemoryEntry]]]] = (
        (FindingKind.CONTRADICTION, contradiction),
        (FindingKind.DUPLICATE, duplicate),
        (LIKE, near_duplicate),
        (LIKE, overlap),
        (FindingKind.EXPIRED, expired),
        (FindingKind.OVERSIZED, oversized),
        (FindingKind.FRAGMENTED, fragments),
        (FindingKind.DANGLING_LINK, dangling),
        (FindingKind.ORPHAN, orphan),
        (FindingKind.STALE, stale),
    )
    for kind, plant in plants:
        for _ in range(max(count // SHARE, 2)):
            notes = plant(author)
            store.entries.extend(notes)
            ids = [each.meta.id for each in notes]
            store.planted[kind] |= set(map(frozenset, combinations(ids, 2))) if len(ids) > 1 else {frozenset(ids)}
    while len(store.entries) < count:
        subject, value = author.subject(), author.random.randint(2, 9_000)
        body = f"{author.prose(6)}\n\nThe {subject} limit is {value}. It does not {' '.join(author.some(4))}."
        store.entries.append(author.note(subject, body))
    author.random.shuffle(store.entries)
    return store


def contradiction(author: Author) -> list[MemoryEntry]:
    subject, (low, high) = author.subject(), author.random.sample(range(1_000, 9_000), 2)
    says, denies = author.random.choice(
        (
            (f"The {subject} server listens on port {low}.", f"The {subject} server listens on port {high} now."),
            (f"The {subject} timeout is {low} ms.", f"The timeout of the {subject} is {high} ms."),
            (f"The {subject} settings live in `etc/{low}.toml`.", f"The {subject} settings live in `etc/{high}.toml`."),
            (f"The {subject} events are stored in Redis.", f"The {subject} events are stored in Postgres."),
            (f"The {subject} job retries failed requests.", f"The {subject} job does not retry failed requests."),
        )
    )
    return [
        author.note(f"The {subject}", f"{author.prose(4)}\n\n{says}"),
        author.note(f"{subject} settings", f"{denies}\n\n{author.prose(4)}"),
    ]


def duplicate(author: Author) -> list[MemoryEntry]:
    body = author.prose(6)
    return [author.note(author.subject(), body), author.note(author.subject(), body.replace("\n\n", "\n"))]


def near_duplicate(author: Author) -> list[MemoryEntry]:
    subject = author.subject()
    sentences = [author.sentence() for _ in range(7)]
    changed = [*sentences[3:6], *sentences[:3], f"{sentences[6][:-1]} {' '.join(author.some(3))}."]
    return [author.note(subject, " ".join(sentences)), author.note(f"{subject} again", "\n".join(changed))]


def overlap(author: Author) -> list[MemoryEntry]:
    subject, body = author.subject(), author.prose(4)
    return [author.note(subject, body), author.note(f"All of {subject}", f"{author.prose(6)}\n\n{body}")]


def expired(author: Author) -> list[MemoryEntry]:
    return [author.note(author.subject(), author.prose(6), expires_at_ms=NOW_MS - DAY_MS)]


def oversized(author: Author) -> list[MemoryEntry]:
    return [author.note(author.subject(), author.prose(90))]


def fragments(author: Author) -> list[MemoryEntry]:
    subject, tags = author.subject(), (f"area__{author.subject().replace(' ', '-')}",)
    return [author.note(f"{subject} {' '.join(author.some(1))}", author.sentence(), tags=tags) for _ in range(3)]


def dangling(author: Author) -> list[MemoryEntry]:
    gone = mint_id(author.subject(), author.number, author.taken)
    author.taken.add(gone.casefold())
    return [author.note(author.subject(), f"{author.prose(5)} See [[{gone}]].")]


def orphan(author: Author) -> list[MemoryEntry]:
    return [author.note(author.subject(), author.prose(6), tags=(), created_at_ms=NOW_MS - 60 * DAY_MS)]


def stale(author: Author) -> list[MemoryEntry]:
    long_ago_ms = NOW_MS - 300 * DAY_MS
    return [author.note(author.subject(), author.prose(6), created_at_ms=long_ago_ms, updated_at_ms=long_ago_ms)]


def write_store(entries: Sequence[MemoryEntry], directory: Path) -> None:
    directory.mkdir()
    for each in entries:
        (directory / file_name_of(each.meta)).write_text(render_note(each), "utf-8")


def read_all(directory: Path) -> Iterator[tuple[Path, bytes]]:
    return ((path, path.read_bytes()) for path in directory.iterdir())


def parse_all(directory: Path) -> Iterator[StoredEntry]:
    for path, content in read_all(directory):
        note = parse_note(content, path.name, 0).unwrap()
        yield StoredEntry(Listed(note.entry.meta, path.name, path.name), note.entry.body)


def act(name: str, directory: Path) -> str:
    """What one measured process does, and what it prints."""
    if name == "read":
        return str(sum(len(content) for _, content in read_all(directory)))
    if name == "parse":
        return str(sum(len(each.body) for each in parse_all(directory)))
    analysis = analyze(parse_all(directory), AnalysisFacts(NOW_MS))
    return json.dumps([[each.kind, each.ids] for each in analysis.findings])


def scored(planted: Mapping[str, set[Pair]], found: Sequence[Finding]) -> list[tuple[str, str, str, str]]:
    """By kind: planted, found of these, and the share of what was found that had been planted."""
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for each in found:
        kind = LIKE if each.kind in (FindingKind.NEAR_DUPLICATE, FindingKind.OVERLAP) else each.kind
        # A group stands for its pairs.
        pairs[kind] |= set(map(frozenset, combinations(each.ids, 2))) if len(each.ids) > 1 else {frozenset(each.ids)}
    rows = []
    for kind, wanted in planted.items():
        hits = len(wanted & pairs[kind])
        precision = f"{hits / len(pairs[kind]):.1%}" if pairs[kind] else "-"
        rows.append((str(kind), f"{len(wanted)}", f"{hits / len(wanted):.1%}", precision))
    return rows


def measure(count: int, runs: int, work: Path) -> bool:
    """Prints both tables for a store of `count` entries; whether the goals were met."""
    store = invented(count)
    directory = work / f"topics-{count}"
    write_store(store.entries, directory)

    def process(name: str) -> Callable[[], Took]:
        return lambda: run((sys.executable, "-m", "bench.analysis", "--act", name, str(directory)), cwd=REPOSITORY)

    took = alternating({name: process(name) for name in ("read", "parse", "analyze")}, runs)
    print_table(f"{len(store.entries):,} entries, whole processes", COMPARED, compared(took, "parse"))
    printed = json.loads(took["analyze"][0].stdout)
    found = [Finding(FindingKind(kind), tuple(ids), "") for kind, ids in printed]
    print_table("what was found", ("", "planted", "found", "precision"), scored(store.planted, found))
    ratio = median_ms(took["analyze"]) / median_ms(took["parse"])
    return ratio <= GOAL and peak_mb(took["analyze"]) <= LIMIT_MB


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, nargs="+", default=[200, 10_000], metavar="N")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="50,000 entries too")
    parser.add_argument("--act", nargs=2, metavar=("NAME", "DIRECTORY"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.act:
        name, directory = arguments.act
        print(act(name, Path(directory)))
        return 0
    sizes = [*arguments.entries, *([50_000] if arguments.full else [])]
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as work:
        met = [measure(size, arguments.runs, Path(work)) for size in sizes]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
