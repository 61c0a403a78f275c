"""The listing cache's content: what was read from each file, as bytes and back. Derived data, may be thrown away any time.

Layout: signature (32 bytes) · parts, each its length (4 bytes, little-endian), SHA-256 (32 bytes) and what it holds · an empty
length · SHA-256 of the signature and of all these digests (32 bytes). The first part is what the entries are about, the others
are pieces of up to 500 rows: the length of a head (4 bytes), the head, which says how files look and how long each column is,
and the columns, each as marshal has it. The signature stands for this version of the layout, of Python's marshal, of the values'
fields and of what a term is: after an upgrade an old cache is simply not read. A digest is checked first, since marshal must not
be fed damaged bytes. Entries are unpacked as they are asked for.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from agent_memory.digests import sha256
from agent_memory.domain.about_terms import postings_among
from agent_memory.domain.entry import Listed, UnreadableFile
from agent_memory.domain.packed_entries import Entries, Packed, Unpacking, unpacked, unpacking
from agent_memory.formats.packed_table import FORM, PackedTable, Piece, packed_piece
from agent_memory.formats.packed_terms import packed_terms
from agent_memory.values import frozen

NEVER = -1
"""How no file looks, since nothing has this hash."""
Seen = Listed | UnreadableFile
"""What is known of one file of a shelf."""


@frozen
class Rows:
    """What was read from the files of one shelf, by path: both of the same files."""

    looks: Mapping[str, int]
    """How each looked from outside; `NEVER` for one that has to be read again whatever it looks like."""
    seen: Mapping[str, Seen]


_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4
_ROWS_A_PIECE = 500
"""Who asks for one entry unpacks the columns of its piece."""
_LAYOUT_VERSION = 8

_SIGNATURE = sha256(repr((_LAYOUT_VERSION, sys.implementation.cache_tag, FORM)).encode()).digest()


def render_rows(rows: Rows) -> Iterator[bytes]:
    """The cache's bytes, in pieces that are never all there at once. By path, as a listing has them: whoever goes through
    fifty thousand values in the order in which they were made takes half the time."""
    import hashlib  # megabytes are hashed several times as fast with OpenSSL, which takes its time to load

    every = hashlib.sha256(_SIGNATURE)
    yield _SIGNATURE
    for part in _parts(rows):
        digest = hashlib.sha256(part).digest()
        every.update(digest)
        yield len(part).to_bytes(_LENGTH_BYTES, "little") + digest
        yield part
    yield bytes(_LENGTH_BYTES) + every.digest()


def _parts(rows: Rows) -> Iterator[bytes]:
    paths = sorted(rows.seen)
    yield _packed_terms(rows.seen, paths)  # first, since what is known of packed entries need not be found out again
    seen = unpacked(rows.seen)
    left = iter(paths)
    while some := [seen[path] for path in islice(left, _ROWS_A_PIECE)]:
        entries = [each for each in some if isinstance(each, Listed)]
        others = [each for each in some if isinstance(each, UnreadableFile)]
        looks = [rows.looks[each.path] for part in (entries, others) for each in part]
        yield _joined(packed_piece(entries), looks, [(each.path, each.problems) for each in others])


def _packed_terms(seen: Mapping[str, Seen], paths: Iterable[str]) -> bytes:
    values = unpacking(seen)
    found = map(values.rows.__getitem__, paths)
    entries: list[Listed | int] = [each for each in found if not isinstance(each, UnreadableFile)]
    packed: Packed[Any] = values.packed  # what cannot be read is never packed
    return packed_terms(postings_among(Entries(entries, packed)))


def _joined(piece: Piece, looks: list[int], others: list[tuple[str, tuple[str, ...]]]) -> bytes:
    """Columns after what says where each is: so none is copied before somebody asks for it."""
    count, source_count, columns = piece
    sizes = {name: len(column) for name, column in columns.items()}
    head = marshal.dumps((count, source_count, sizes, looks, others), _MARSHAL_VERSION)
    return b"".join((len(head).to_bytes(_LENGTH_BYTES, "little"), head, *columns.values()))


def _parted(piece: memoryview) -> tuple[Piece, list[int], list[tuple[str, tuple[str, ...]]]]:
    at = _LENGTH_BYTES + int.from_bytes(piece[:_LENGTH_BYTES], "little")
    count, source_count, sizes, looks, others = marshal.loads(piece[_LENGTH_BYTES:at])
    columns: dict[str, memoryview | bytes] = {}
    for name, size in sizes.items():
        columns[name] = piece[at : at + size]
        at += size
    return (count, source_count, columns), looks, others


def parse_rows(read: Callable[[int], bytes], size_bytes: int) -> Rows | None:
    """The rows; None for what is damaged or from another version. `read` gives so many of the next bytes, fewer at the end;
    `size_bytes` is how many there are."""
    import hashlib

    every = hashlib.sha256(_SIGNATURE)
    if read(_DIGEST_BYTES) != _SIGNATURE:
        return None
    looks, others = list[int](), list[tuple[str, tuple[str, ...]]]()
    looks_of_others = list[int]()
    terms: bytes | None = None
    pieces: list[Piece] = []
    while length := int.from_bytes(read(_LENGTH_BYTES), "little"):
        digest, part = read(_DIGEST_BYTES), read(min(length, size_bytes))
        if hashlib.sha256(part).digest() != digest:
            return None
        every.update(digest)
        if terms is None:
            terms = part
            continue
        entries, of_all, of_none = _parted(memoryview(part))
        pieces.append(entries)
        looks += of_all[: entries[0]]
        looks_of_others += of_all[entries[0] :]
        others += of_none
    is_whole = read(_DIGEST_BYTES) == every.digest() and not read(1)
    if not is_whole or terms is None:
        return None
    table = PackedTable(pieces, terms)
    unreadable = {path: UnreadableFile(path, problems) for path, problems in others}
    by_path = dict(zip(table.paths, looks, strict=True))
    by_path.update(zip(unreadable, looks_of_others, strict=True))
    rows: dict[str, Seen | int] = dict(zip(table.paths, range(len(table)), strict=True))
    rows.update(unreadable)
    return Rows(by_path, Unpacking(rows, table))
