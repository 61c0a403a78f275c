"""The terms of one note, by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.searching.terms import chunk_terms, chunks_of, folded

MAX_COUNT = 255
"""More of one term in one field is no more."""
_REMEMBERED_CHARS = 64
_MOST_REMEMBERED = 1 << 16
"""Some 15 MB: about as many different words as 50,000 notes have."""


@frozen
class FieldTerms:
    """How often each term occurs in one field, and how long the field is: its parts, stop words left out."""

    counts: Mapping[str, int]
    length: int


_NOTHING = FieldTerms({}, 0)


def note_terms(entry: StoredEntry) -> tuple[FieldTerms, FieldTerms, FieldTerms, FieldTerms]:
    """The terms of `matching.FIELDS`. A note's ids are among its tags, so that they find it."""
    meta = entry.meta
    tags = field_terms(" ".join(tag.partition("__")[2] or tag for tag in meta.tags))
    return (
        _NOTHING if is_cut_from(meta.title, entry.body) else field_terms(meta.title),
        FieldTerms({**tags.counts, **_id_terms((meta.id, *meta.aliases))}, tags.length),
        field_terms(meta.description),
        field_terms(entry.body),
    )


def is_cut_from(title: str, body: str) -> bool:
    """Whether the title is but the beginning of the text, as it is made for a note without one: its words would count
    twice. The first of several lines is a title in its own right."""
    bare = title.strip().removesuffix("…").rstrip()
    text = body.lstrip("# \t\n")[: len(title) * 2 + 200]
    first, _, others = text.partition("\n")
    line = " ".join(first.split())
    return line.startswith(" ".join(bare.split())) and (line != bare or not others.strip())


def field_terms(text: str) -> FieldTerms:
    """The terms of one text."""
    counts: dict[str, int] = {}
    length = 0
    remembered = _REMEMBERED
    for chunk, times in Counter(chunks_of(text)).items():
        parts, terms = remembered[chunk]
        length += parts * times
        for term in terms:
            counts[term] = counts.get(term, 0) + times
    if max(counts.values(), default=0) > MAX_COUNT:
        counts = {term: min(count, MAX_COUNT) for term, count in counts.items()}
    return FieldTerms(counts, length)


class _Remembered(dict[str, tuple[int, tuple[str, ...]]]):
    """Of each chunk the number of its parts, and its terms: notes of one store have most of their words in common."""

    def __missing__(self, chunk: str) -> tuple[int, tuple[str, ...]]:
        terms = chunk_terms(chunk)
        found = len(terms.parts), terms.all
        if len(chunk) <= _REMEMBERED_CHARS:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[chunk] = found
        return found


_REMEMBERED = _Remembered()


def _id_terms(ids: tuple[str, ...]) -> dict[str, int]:
    """Whole and without prefix, but not its parts: they would be in every note."""
    bare = [folded(id.removeprefix("id__")) for id in ids]
    return dict.fromkeys([*(f"id{each}" for each in bare), *bare], 1)
