"""The objects in one list of a JSON document of any size, in bounded memory (P25)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, LongLine

_CHUNK_BYTES = 256 * 1024
_MAX_FRAME_BYTES = 4 * 1024 * 1024
_KEY_BYTES = 200
_OUTSIDE = re.compile(rb'["\[\]{}]')
_INSIDE = re.compile(rb'["\\]')


def read_items(
    descriptor: int,
    size_bytes: int,
    list_key: bytes,
    max_item_bytes: int = MAX_LINE_BYTES,
    chunk_bytes: int = _CHUNK_BYTES,
) -> Iterator[Line | LongLine]:
    """Each object in the list `list_key` of the document's outermost object, then that object itself with an empty list.

    Reads the next `size_bytes` bytes of an open file, and holds one item and one chunk at a time. Only quotes and brackets
    are looked at: what is between them may be no JSON. Of a document that was cut short, the last item is not `finished`,
    and what is around the list is closed where that is a matter of brackets. A longer item is skipped. Raises OSError
    where a read fails.
    """
    scan = _Scan(list_key, max_item_bytes)
    while size_bytes > 0 and (chunk := os.read(descriptor, min(chunk_bytes, size_bytes))):
        size_bytes -= len(chunk)
        yield from scan.items_in(chunk)
    yield from scan.rest()


class _Place(Enum):
    FRAME = "around the list"
    LIST = "in the list, between its items"
    ITEM = "in an item"


class _Scan:
    """Where in the document the bytes so far end, and what is not complete."""

    def __init__(self, list_key: bytes, max_item_bytes: int) -> None:
        self._list_begins = re.compile(rb'"' + re.escape(list_key) + rb'"\s*:\s*\[\Z')
        self._max_item_bytes = max_item_bytes
        self._place = _Place.FRAME
        self._depth = 0
        self._in_string = False
        self._skip_bytes = 0
        """Of the next chunk: the rest of an escape."""
        self._frame = bytearray()
        self._item = bytearray()
        self._item_bytes = 0

    def items_in(self, chunk: bytes) -> Iterator[Line | LongLine]:
        at, self._skip_bytes = self._skip_bytes, 0
        kept_to = 0
        while found := (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at):
            at = found.end()
            sign = found[0]
            if sign == b"\\":
                self._skip_bytes = max(0, at + 1 - len(chunk))
                at += 1
            elif sign == b'"':
                self._in_string = not self._in_string
            elif sign in b"[{":
                self._depth += 1
                if self._place is _Place.FRAME and self._depth == 2:
                    self._keep(chunk, kept_to, at)
                    kept_to = at
                    if self._list_begins.search(self._frame[-_KEY_BYTES:]):
                        self._place = _Place.LIST
                elif self._place is _Place.LIST and sign == b"{":
                    kept_to = at - 1
                    self._place = _Place.ITEM
            else:
                self._depth -= 1
                if self._place is _Place.ITEM and self._depth == 2:
                    self._keep(chunk, kept_to, at)
                    kept_to = at
                    self._place = _Place.LIST
                    yield self._finished_item()
                elif self._place is _Place.LIST and self._depth == 1:
                    kept_to = at - 1
                    self._place = _Place.FRAME
        self._keep(chunk, kept_to, len(chunk))

    def rest(self) -> Iterator[Line | LongLine]:
        """What is left at the end of the file."""
        if self._place is _Place.ITEM:
            yield self._finished_item(finished=False)
        if self._frame.strip():
            missing = b"" if self._depth <= 0 or self._in_string else b"}"
            ends = missing if self._place is _Place.FRAME else b"]}"
            yield Line(self._frame + ends, finished=self._depth <= 0)

    def _keep(self, chunk: bytes, begin: int, end: int) -> None:
        if self._place is _Place.ITEM:
            self._item_bytes += end - begin
            if self._item_bytes <= self._max_item_bytes:
                self._item += memoryview(chunk)[begin:end]
            else:
                self._item = bytearray()
        elif self._place is _Place.FRAME and len(self._frame) < _MAX_FRAME_BYTES:
            self._frame += memoryview(chunk)[begin:end]

    def _finished_item(self, *, finished: bool = True) -> Line | LongLine:
        item, size_bytes = self._item, self._item_bytes
        self._item, self._item_bytes = bytearray(), 0
        return Line(item, finished) if size_bytes <= self._max_item_bytes else LongLine(size_bytes)
