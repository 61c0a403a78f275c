"""What was noticed in the notes of a store, as `.cache/analysis` and back. Derived data, may be thrown away any time.

Layout: signature (32 bytes) · SHA-256 (32 bytes) and length (8 bytes, little-endian) of the contents · the contents: marshal of the
length and SHA-256 of each piece · the pieces: first marshal of all small columns, then the numbers of each large one. The signature
stands for the layout, for what notices, and for what marshal and numbers depend on: a file of another is not read. Digests are
checked first, since marshal must not be fed damaged bytes. One piece is in memory at a time beside what is read of it.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from agent_memory.domain.analysis.denials import Denial
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.likened import Likened, LikenedPair
from agent_memory.domain.analysis.noticed import PackedClaim
from agent_memory.domain.analysis.outlines import OutlineColumns
from agent_memory.domain.analysis.ragged import Ragged
from agent_memory.values import field_names

_LAYOUT = "gathered 3"
_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_CLAIM, _DENIAL, _PAIR = field_names(PackedClaim), field_names(Denial), field_names(LikenedPair)
_OUTLINES = field_names(OutlineColumns)
_NUMBERS = "I" + 3 * "II" + "IQ" + 3 * "II"
"""The kind of numbers in each piece but the first (`_pieces`)."""


def render_gathered(program: str, gathered: Gathered) -> tuple[int, Iterator[bytes | memoryview]]:
    """How many bytes the whole file has, and they in pieces. `program` is what notices: another one may notice something
    else."""
    pieces = [tuple(each) for each in _pieces(gathered)]
    sealed = [_length_and_digest(each) for each in pieces]
    contents = marshal.dumps(sealed, _MARSHAL_VERSION)
    head = _signature(program) + hashlib.sha256(contents).digest() + len(contents).to_bytes(_LENGTH_BYTES, "little")
    size_bytes = len(head) + len(contents) + sum(length for length, _ in sealed)
    return size_bytes, chain((head, contents), chain.from_iterable(pieces))


def _length_and_digest(piece: Iterable[bytes | memoryview]) -> tuple[int, bytes]:
    length, digest = 0, hashlib.sha256()
    for part in piece:
        length += len(part)
        digest.update(part)
    return length, digest.digest()


def parse_gathered(program: str, read: Callable[[int], bytes], size_bytes: int) -> Gathered | None:
    """What was rendered for the same program; None of anything else. `read` gives so many of the next bytes, fewer at the end;
    `size_bytes` is how many there are."""
    if read(_DIGEST_BYTES) != _signature(program):
        return None

    def checked(length: int, digest: bytes) -> bytes | None:
        data = read(min(length, size_bytes))
        return data if hashlib.sha256(data).digest() == digest else None

    digest, length = read(_DIGEST_BYTES), int.from_bytes(read(_LENGTH_BYTES), "little")
    contents = checked(length, digest)
    if contents is None:
        return None
    first, *others = marshal.loads(contents)
    small = checked(*first)
    large: list[array[int]] = []
    for typecode, (length, digest) in zip(_NUMBERS, others, strict=True):
        data = checked(length, digest)
        if small is None or data is None:
            return None
        large.append(array(typecode, data))
    return None if small is None or read(1) else _gathered(marshal.loads(small), large)


def _small_columns(gathered: Gathered) -> tuple[Any, ...]:
    return (
        list(gathered.words),
        list(gathered.marks),
        list(gathered.digests),
        {slot: _rows(each, _CLAIM) for slot, each in gathered.claims.items()},
        {slot: _rows(each, _DENIAL) for slot, each in gathered.denials.items()},
        tuple([getattr(gathered.outlines, name) for name in _OUTLINES]),
        _rows(gathered.likened.pairs, _PAIR),
    )


def _pieces(gathered: Gathered) -> Iterator[Iterable[bytes | memoryview]]:
    """Each piece in parts: a large column is not copied."""
    likened = gathered.likened
    yield (marshal.dumps(_small_columns(gathered), _MARSHAL_VERSION),)
    yield (gathered.named.tobytes(),)
    for column in (gathered.terms, gathered.title, gathered.about, gathered.stated, likened.holders, likened.probed):
        yield (column.all_starts().tobytes(),)
        yield column.parts()
    yield (likened.limits.tobytes(),)
    yield (array("I", sorted(likened.slots)).tobytes(),)


def _gathered(small: tuple[Any, ...], large: Sequence[array[int]]) -> Gathered:
    words, marks, digests, claims, denials, outlines, pairs = small
    named, *ragged, limits, slots = large
    columns = [Ragged(values, starts) for starts, values in zip(ragged[::2], ragged[1::2], strict=True)]
    terms, title, about, stated, holders, probed = columns
    return Gathered(
        words,
        named,
        marks,
        digests,
        terms,
        title,
        about,
        stated,
        {slot: tuple([PackedClaim(*each) for each in rows]) for slot, rows in claims.items()},
        {slot: tuple([Denial(*each) for each in rows]) for slot, rows in denials.items()},
        OutlineColumns(*outlines),
        Likened(frozenset(slots), holders, probed, limits, tuple([LikenedPair(*each) for each in pairs])),
    )


def _rows(values: Iterable[object], names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [tuple([getattr(each, name) for name in names]) for each in values]


def _signature(program: str) -> bytes:
    known = (_LAYOUT, program, sys.implementation.cache_tag, sys.byteorder, [array(each).itemsize for each in _NUMBERS])
    return hashlib.sha256(repr((*known, _CLAIM, _DENIAL, _PAIR, _OUTLINES)).encode()).digest()
