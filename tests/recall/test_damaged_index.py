"""Whatever bytes the index is made of, a search answers with files that are there, and an index made anew is right again (P6)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from agent_memory.app import open_memory
from agent_memory.note.note import Kind
from agent_memory.recall import searching
from agent_memory.recall.note_index import NoteIndex
from agent_memory.recall.search_values import Mode, SearchRequest
from agent_memory.store import store_database
from agent_memory.store.store_database import DIRECTORY, JOURNAL, NAME

IDS = [f"id__{number:06d}".replace("0", "z") for number in range(1, 25)]
REQUESTS = (
    *(SearchRequest(query, mode=Mode.BM25) for query in ("zebra", "w7q", "v13 v5", f"note {IDS[8]}", "zebta", "gira")),
    *(SearchRequest("zebra", mode=Mode.BM25, kind=Kind.LESSON), SearchRequest("v13", mode=Mode.BM25, archived=True)),
    *(SearchRequest("zebra", mode=Mode.BM25, tags=("t1",)), SearchRequest("v5", mode=Mode.BM25, session="T-2")),
    SearchRequest("zebra", mode=Mode.BM25, since_ms=1771000205123 + 12 * 86_400_000),
)

Damage = Callable[[bytes, random.Random], bytes]
Answers = list[list[str]]


@frozen
class Searched:
    """A store of notes that were written long ago, its index, and what is found by it."""

    home: Path
    good: bytes
    right: Answers

    @property
    def index(self) -> Path:
        return self.home / "memories" / DIRECTORY / NAME

    def put(self, content: bytes) -> None:
        """As if the index had been so when the next search began."""
        for path in self.index.parent.iterdir():
            path.unlink()
        self.index.write_bytes(content)


def answers(home: Path) -> Answers:
    """The ids that a new process finds, request by request; then how the index says that notes are tied to each other."""
    memory = open_memory({"HOME": str(home), "AGENT_MEMORY_ROOT": str(home / "memories")}, home, print).unwrap()
    found = [memory.search(request).unwrap().hits for request in REQUESTS]
    assert all((home / "memories" / hit.listed.path).is_file() for hits in found for hit in hits)
    return [*([hit.listed.meta.id for hit in hits] for hits in found), *tied(memory.index)]


def tied(index: NoteIndex) -> Answers:
    """Names, places, neighbours, links and vectors, each note by its id."""
    renewals = -1
    while renewals != index.renewals:  # else numbers of one index are asked of another
        renewals = index.renewals
        numbers = index.numbers_of(IDS).unwrap()
        ids = {number: id for id, number in numbers.items()}
        every = sorted(ids)
        near = index.near(every, 2).unwrap()
        links, vectors = index.links(every).unwrap(), vectors_of(index)
    return [
        sorted(numbers),
        sorted(f"{ids[each.number]} {ids[each.other]} {each.turns}" for each in near),
        sorted(f"{ids[link.source]} {ids[link.target]} {link.relation}" for link in links),
        sorted(f"{ids[number]} {row!r}" for number, row in vectors),
    ]


def vectors_of(index: NoteIndex) -> list[tuple[int, bytes]]:
    """One of each note, made where it is missing."""
    notes = index.notes(index.without_vector("m").unwrap()).unwrap()
    index.put_vectors("m", {number: note.meta.id.encode() for number, note in notes.items()}).unwrap()
    found = index.vectors("m").unwrap()
    return list(found.items())


@pytest.fixture
def searched(home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Searched:
    monkeypatch.setattr(store_database, "_GRAIN_NS", -(10**15))
    monkeypatch.setattr(searching, "PATIENCE_SECONDS", 600.0)
    (root / "topics").mkdir(parents=True)
    (root / "archive").mkdir()
    for number, id in enumerate(IDS):
        path = root / ("archive" if number == 3 else "topics") / f"note -- {id}.md"
        words = " ".join(f"v{number * factor % 97}" for factor in range(30 + number))  # no two are as long
        path.write_text(
            f"---\nid: {id}\ntitle: Note {number}\ntags: [topic__t{number % 3}]\nkind: {('fact', 'lesson')[number % 2]}\n"
            f"createdAt: 1771000205123\nupdatedAt: {1771000205123 + number * 86_400_000}\naliases: [id__y{id[-5:]}]\n"
            f"supersedes: [{IDS[number - 7] if number % 5 == 0 else ''}]\n"
            f"sources:\n  - {{harness: amp, threadId: T-{number // 6}, turns: [{number % 6 + 1}]}}\n"
            f"---\nzebra w{number}q, after [[{IDS[number - 1]}]].\n\n{words}\n"
        )
        os.utime(path, ns=(1771000205123 * 10**6, path.stat().st_mtime_ns - 10**10))
    answers(home)
    with (root / "topics" / f"note -- {IDS[9]}.md").open("a") as note:
        note.write("giraffe\n")
    answers(home)
    return Searched(home, (root / DIRECTORY / NAME).read_bytes(), answers(home))


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Some bits are another, where there are any: most of a small index is room."""
    damaged = bytearray(content)
    used = [at for at, byte in enumerate(content) if byte]
    for _ in range(chance.choice((1, 1, 4, 40))):
        damaged[chance.choice(used)] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def cut_off(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def half_written(content: bytes, chance: random.Random) -> bytes:
    """Some of its blocks never reached the disk."""
    damaged, block = bytearray(content), 4096
    for at in range(0, len(content), block):
        if chance.random() < 0.3:
            damaged[at : at + block] = bytes(block)
    return bytes(damaged)


def searches_all_the_same(searched: Searched, damage: Damage, times: int) -> None:
    chance = random.Random(7)
    as_before = made_anew = 0
    for _ in range(times):
        damaged = damage(searched.good, chance)
        searched.put(damaged)
        found = answers(searched.home)
        assert all(len(set(ids)) == len(ids) for ids in found)
        as_before += found == searched.right
        made_anew += searched.index.read_bytes() != damaged
    assert made_anew, "nothing was damaged"
    assert as_before >= times * 0.7, "SQLite finds most of it"
    assert as_before == times or damage is not cut_off
    searched.index.unlink()
    assert answers(searched.home) == searched.right


@pytest.mark.parametrize("damage", [flipped, cut_off, half_written])
def test_a_damaged_index_is_no_error(searched: Searched, damage: Damage) -> None:
    searches_all_the_same(searched, damage, 10)


@pytest.mark.parametrize("name", [NAME, JOURNAL])
def test_a_fifo_in_the_place_of_its_files_keeps_nobody_waiting(searched: Searched, name: str) -> None:
    """SQLite opens the journal as well, and would wait for somebody to write into it."""
    searched.put(searched.good)
    (searched.index.parent / name).unlink(missing_ok=True)
    os.mkfifo(searched.index.parent / name)
    assert answers(searched.home)[: len(REQUESTS)] == searched.right[: len(REQUESTS)]
