"""Which entries are about which terms, as one object of Python's marshal: what a listing cache keeps of it."""

from __future__ import annotations

import marshal
import sys
from array import array
from itertools import accumulate, compress

from agent_memory.domain.about_terms import ABOUT_TERMS_VERSION
from agent_memory.domain.packed_entries import Postings
from agent_memory.formats.listing_columns import packed_column, unpacked_column

_MARSHAL_VERSION = 4
_NUMBER = "I"

TERMS_FORM = repr((ABOUT_TERMS_VERSION, _NUMBER, array(_NUMBER).itemsize, sys.byteorder))
"""What packed terms depend on."""


def packed_terms(postings: Postings) -> bytes:
    """The terms, with a space between two; how many entries have each; their places, those of one term after those of another;
    and how many terms each entry has."""
    having = array(_NUMBER, map(len, postings.places.values()))
    places = array(_NUMBER)
    for each in postings.places.values():
        places.extend(each)  # arrays, which are copied whole
    count, counts = len(postings.counts), packed_column(postings.counts)
    numbers = having.tobytes(), places.tobytes()
    return marshal.dumps((" ".join(postings.places), *numbers, count, counts), _MARSHAL_VERSION)


def unpacked_terms(packed: bytes, terms: frozenset[str] | None) -> Postings:
    """What was packed, of these terms only; None: of all."""
    text, *numbers, count, counts = marshal.loads(packed)
    all_terms: list[str] = text.split()
    having, places = (array(_NUMBER, each) for each in numbers)
    wanted = all_terms if terms is None else list(map(terms.__contains__, all_terms))
    ends, sizes = compress(accumulate(having), wanted), compress(having, wanted)
    found = {
        term: places[end - size : end] for term, end, size in zip(compress(all_terms, wanted), ends, sizes, strict=True)
    }
    return Postings(found, list(unpacked_column(counts, count)))
