"""Whatever bytes the index is made of, a search answers with files that are there, and an index made anew is right again (P6)."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import frozen

from agent_memory import searching
from agent_memory.adapters.index import file_batch
from agent_memory.adapters.index.index_database import DIRECTORY, NAME
from agent_memory.bootstrap import open_memory
from agent_memory.domain.searching.search_request import Mode, SearchRequest
from agent_memory.domain.similarity.vector_rows import rows_of
from agent_memory.domain.vocabulary import Kind
from agent_memory.ports import Index

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


def tied(index: Index) -> Answers:
    """Names, places, neighbours, links and vectors, each note by its id."""
    renewals = -1
    while renewals != index.renewals:  # else numbers of one index are asked of another
        renewals = index.renewals
        numbers = index.numbers_of(IDS).unwrap()
        ids = {number: id for id, number in numbers.items()}
        every = sorted(ids)
        places, near = index.places(every).unwrap(), index.near(every, 2).unwrap()
        links, vectors = index.links(every).unwrap(), vectors_of(index)
    return [
        sorted(numbers),
        sorted(f"{ids[place.number]} {place.session} {place.turn}" for place in places),
        sorted(
            f"{ids[number]} {ids[other.number]} {other.distance}" for number, some in near.items() for other in some
        ),
        sorted(f"{ids[link.source]} {ids[link.target]} {link.relation}" for link in links),
        sorted(f"{ids[number]} {row!r} {square}" for number, row, square in vectors),
    ]


def vectors_of(index: Index) -> list[tuple[int, bytes, int]]:
    """One of each note, made where it is missing, and the square of its length."""
    notes = index.notes(index.without_vector("m").unwrap()).unwrap()
    index.put_vectors("m", {number: note.listed.meta.id.encode() for number, note in notes.items()}).unwrap()
    found = index.vectors("m").unwrap()
    assert found.rows.unit_sum == pytest.approx(rows_of(found.rows.each()).unit_sum)
    return list(zip(found.numbers, found.rows.each(), found.rows.squares, strict=True))


@pytest.fixture
def searched(home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Searched:
    monkeypatch.setattr(file_batch, "believed_by", lambda image, _: image.known_by)
    monkeypatch.setattr(file_batch, "_FILES", 9)  # several segments
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
    assert as_before == times
    searched.index.unlink()
    assert answers(searched.home) == searched.right


@pytest.mark.parametrize("damage", [flipped, cut_off, half_written])
def test_a_damaged_index_is_no_error(searched: Searched, damage: Damage) -> None:
    searches_all_the_same(searched, damage, 20)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flipped, cut_off, half_written])
def test_an_index_damaged_in_many_ways_is_no_error(searched: Searched, damage: Damage) -> None:
    searches_all_the_same(searched, damage, 500)


# -- checksums ---------------------------------------------------------------------------------------------------------


def no_flip_changes_an_answer(searched: Searched, times: int) -> None:
    chance, made_anew = random.Random(7), 0
    places = [at for at, byte in enumerate(searched.good) if byte]
    for _ in range(times):
        at, bit = chance.choice(places), 1 << chance.randrange(8)
        damaged = bytearray(searched.good)
        damaged[at] ^= bit
        searched.put(bytes(damaged))
        assert answers(searched.home) == searched.right, f"bit {bit:#x} of byte {at}"
        made_anew += searched.index.read_bytes() != damaged
    assert made_anew > times / 3


def test_no_flipped_bit_changes_an_answer_p6(searched: Searched) -> None:
    assert all(searched.right), "every sort of answer has something to lose"
    no_flip_changes_an_answer(searched, 40)


@pytest.mark.slow
def test_none_of_many_flipped_bits_changes_an_answer_p6(searched: Searched) -> None:
    no_flip_changes_an_answer(searched, 2_000)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE postings SET term = 'xyz' WHERE term = 'w7q'",
        # It is said to be in another note than the one that has it.
        "UPDATE postings SET grouped = (SELECT grouped FROM postings WHERE term = 'w6q') WHERE term = 'w7q'",
        "DELETE FROM postings WHERE term = 'w7q'",
    ],
)
def test_what_words_are_said_to_have_is_checked_when_it_is_met_p6(
    searched: Searched, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(searched, damage)
    assert answers(searched.home) == searched.right
    # The control: without the checks a hit is lost, or is another.
    monkeypatch.setattr("agent_memory.adapters.index.term_postings.check_postings", lambda *_: None)
    monkeypatch.setattr("agent_memory.adapters.index.vocabulary.Vocabularies.has", lambda *_: False)
    change(searched, damage)
    assert answers(searched.home) != searched.right


def change(searched: Searched, sql: str) -> None:
    """As if the disk had done that to a whole index."""
    searched.put(searched.good)
    with closing(sqlite3.connect(searched.index, isolation_level=None)) as database:
        assert database.execute(sql).rowcount > 0


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM ties",
        "DELETE FROM ties WHERE sort = 1",
        "DELETE FROM relations",
        "DELETE FROM relations WHERE number = 9",
        "UPDATE relations SET said = replace(said, 'T-1', 'T-7')",
        "DELETE FROM notes WHERE number = 9",
        "DELETE FROM vocabulary WHERE first <> ''",
        "UPDATE vocabulary SET terms = replace(terms, 'giraff', 'hiraff')",
        "DELETE FROM dead",
        "UPDATE dead SET marks = x''",
        "DELETE FROM updates",
        "DELETE FROM vectors",
        "UPDATE vectors SET rows = upper(rows)",
        "UPDATE segments SET archived = x''",
        "UPDATE about SET value = '1' WHERE name = 'segments'",
        "DELETE FROM about WHERE name = 'notes'",
    ],
)
def test_no_row_is_lost_or_changed_unseen_p6(searched: Searched, loss: str) -> None:
    change(searched, loss)
    assert answers(searched.home) == searched.right


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM files WHERE path LIKE '%z3.md'",
        "UPDATE files SET look = look + 1 WHERE path LIKE '%z3.md'",
        "UPDATE files SET number = number + 1",
        "UPDATE files SET shadowed_by = '0 ' || path",
        "UPDATE about SET value = '0 0 0' WHERE name = 'files'",
        "UPDATE about SET value = 1 WHERE name = 'last number'",
        "DELETE FROM segments WHERE id = 1",
        "DELETE FROM ties WHERE segment = 1",
        "UPDATE notes SET listed = '[]'",
    ],
)
def test_what_a_change_finds_lost_is_made_anew_p6(searched: Searched, loss: str) -> None:
    """The files changed too: what the index knows of them is needed again."""
    change(searched, loss)
    topics = searched.home / "memories" / "topics"
    (topics / f"note -- {IDS[2]}.md").unlink()
    with (topics / f"note -- {IDS[11]}.md").open("a") as note:
        note.write("walrus\n")
    found = answers(searched.home)
    searched.index.unlink()
    assert found == answers(searched.home)
    assert IDS[2] not in found[-5]
