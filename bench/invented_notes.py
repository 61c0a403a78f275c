"""Stores of any size, made of words that are as unevenly frequent as those of any language (Zipf), from a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from attrs import frozen

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Harness, MemoryEntry, Meta, Source
from agent_memory.note.note_format import render_note
from agent_memory.text.ids import mint_id

CREATED_MS = 1_771_000_205_123
VOCABULARY = 40_000
WORDS_A_BODY = 80
NOTES_A_SESSION = 20
SYLLABLES = [one + two for one in "bcdfghklmnprstvz" for two in ("a", "e", "i", "o", "u", "an", "er", "ol")]


@frozen
class Texts:
    """Words by frequency, and notes and questions made of them."""

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
        taken: set[str] = set()
        for number in range(count):
            said = chance.choices(self.words, cum_weights=self.shares, k=WORDS_A_BODY + 20)
            title = " ".join(said[:6])
            body = ". ".join(" ".join(said[at : at + 10]).capitalize() for at in range(20, len(said), 10))
            at_ms = CREATED_MS + number
            id = mint_id(title, at_ms, taken)
            taken.add(id.casefold())
            meta = Meta(
                id,
                title,
                at_ms,
                at_ms,
                " ".join(said[6:18]),
                tags=tuple(f"topic__{word}" for word in said[18:20]),
                sources=(Source(Harness.AMP, f"T-{number // NOTES_A_SESSION}", turns=(number % NOTES_A_SESSION + 1,)),),
            )
            yield MemoryEntry(meta, body + ".")

    def queries(self, count: int) -> list[tuple[str, ...]]:
        """Three words each, neither among the most frequent nor among the rarest."""
        chance = random.Random(11)
        return [tuple(chance.sample(self.words[20:4_000], 3)) for _ in range(count)]


def write_notes(root: Path, entries: Iterator[MemoryEntry]) -> None:
    """The entries as files of a store, readable by nobody else, as every note that we write."""
    topics = root / "topics"
    topics.mkdir(parents=True)
    root.chmod(0o700)
    topics.chmod(0o700)
    for entry in entries:
        path = topics / file_name_of(entry.meta)
        path.write_text(render_note(entry), "utf-8")
        path.chmod(0o600)


def add_line(path: Path) -> None:
    """One changed note: a line more."""
    path.write_text(path.read_text("utf-8") + "\nOne more line.\n", "utf-8")
