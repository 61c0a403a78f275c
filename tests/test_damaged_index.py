"""Whatever bytes the index is made of, a search answers with files that are there, and an index made anew is right again (P6)."""

from __future__ import annotations

import os
import random
import sqlite3
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import frozen

from agent_memory.adapters.index import file_batch
from agent_memory.adapters.index.index_database import DIRECTORY, NAME
from agent_memory.bootstrap import open_memory
from agent_memory.domain.searching.search_request import Mode, SearchRequest

IDS = [f"id__{number:06d}".replace("0", "z") for number in range(1, 25)]
QUERIES = ("zebra", "w7q", "v13 v5", f"note {IDS[8]}", "zebta")

_LEAVES = (10, 13)
"""First bytes of pages of SQLite that hold rows themselves."""

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
    """The ids that a new process finds, query by query."""
    memory = open_memory({"HOME": str(home), "AGENT_MEMORY_ROOT": str(home / "memories")}, home, print).unwrap()
    found = [memory.search(SearchRequest(query, mode=Mode.BM25)).unwrap().hits for query in QUERIES]
    assert all((home / "memories" / hit.listed.path).is_file() for hits in found for hit in hits)
    return [[hit.listed.meta.id for hit in hits] for hits in found]


@pytest.fixture
def searched(home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Searched:
    monkeypatch.setattr(file_batch, "believed_by", lambda image, _: image.known_by)
    topics = root / "topics"
    topics.mkdir(parents=True)
    for number, id in enumerate(IDS):
        path = topics / f"note -- {id}.md"
        words = " ".join(f"v{number * factor % 97}" for factor in range(30))
        path.write_text(
            f"---\nid: {id}\ntitle: Note {number}\ntags: [topic__t{number % 3}]\ncreatedAt: 1771000205123\n---\n"
            f"zebra w{number}q, after [[{IDS[number - 1]}]].\n\n{words}\n"
        )
        os.utime(path, ns=(1771000205123 * 10**6, path.stat().st_mtime_ns - 10**10))
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
    # What relates notes to each other (names, links, turns) has no checksum: the order of hits may be another unseen.
    assert as_before >= 0.8 * times
    searched.index.unlink()
    assert answers(searched.home) == searched.right


@pytest.mark.parametrize("damage", [flipped, cut_off, half_written])
def test_a_damaged_index_is_no_error(searched: Searched, damage: Damage) -> None:
    searches_all_the_same(searched, damage, 20)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flipped, cut_off, half_written])
def test_an_index_damaged_in_many_ways_is_no_error(searched: Searched, damage: Damage) -> None:
    searches_all_the_same(searched, damage, 500)


# -- words and notes, which have checksums


def page_of(searched: Searched, table: str) -> range:
    """Where the rows of a table are: one page, in so small an index."""
    with closing(sqlite3.connect(searched.index)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    assert searched.good[(page - 1) * size] in _LEAVES
    return range((page - 1) * size, page * size)


def no_flip_changes_an_answer(searched: Searched, times: int) -> None:
    chance, made_anew = random.Random(7), 0
    tables = ("postings", "segments", "notes", "sheets")
    places = [at for table in tables for at in page_of(searched, table) if searched.good[at]]
    for _ in range(times):
        at, bit = chance.choice(places), 1 << chance.randrange(8)
        damaged = bytearray(searched.good)
        damaged[at] ^= bit
        searched.put(bytes(damaged))
        assert answers(searched.home) == searched.right, f"bit {bit:#x} of byte {at}"
        made_anew += searched.index.read_bytes() != damaged
    assert made_anew > times / 3


def test_no_flipped_bit_of_words_and_notes_changes_an_answer_p6(searched: Searched) -> None:
    no_flip_changes_an_answer(searched, 40)


@pytest.mark.slow
def test_none_of_many_flipped_bits_of_words_and_notes_changes_an_answer_p6(searched: Searched) -> None:
    no_flip_changes_an_answer(searched, 1_000)


def another_word(postings: bytes) -> bytes:
    return postings.replace(b"w7q", b"xyz")


def another_note(postings: bytes) -> bytes:
    """The word is said to be in another note than the one that has it."""
    one_note = array("I", [1]).tobytes()
    at = postings.index(one_note, postings.index(b"w7q")) + len(one_note)
    return postings[:at] + bytes([postings[at] ^ 1]) + postings[at + 1 :]


@pytest.mark.parametrize("damage", [another_word, another_note])
def test_what_words_are_said_to_have_is_checked_when_it_is_met_p6(
    searched: Searched, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(searched, "postings")
    before, postings, after = (
        searched.good[some] for some in (slice(page[0]), slice(page[0], page[-1] + 1), slice(page[-1] + 1, None))
    )
    damaged = before + damage(postings) + after
    searched.put(damaged)
    assert answers(searched.home) == searched.right
    assert searched.index.read_bytes() != damaged
    # The control: without the checks a hit is lost, or is another.
    monkeypatch.setattr("agent_memory.adapters.index.term_matching.check_postings", lambda *_: None)
    monkeypatch.setattr("agent_memory.adapters.index.segments.Segment.has_any", lambda *_: False)
    searched.put(damaged)
    assert answers(searched.home) != searched.right
