"""Rows by the hash of a file's content, in one file of `.cache/` of the store. Derived: it may go at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.formats.content_file import HEAD_BYTES, Content, parse_content, render_content
from agent_memory.values import define, field, frozen

_FILE_BYTES_A_ROW_BYTE = 2
"""So much larger than all rows a file may be, with their keys and words."""


def _no_words(_rows: Iterable[bytes]) -> Sequence[str]:
    return ()


@frozen
class _Read:
    """What a file held."""

    mark: bytes
    """Another one for other content."""
    hashes: Set[str]
    rows: dict[str, bytes]
    """Without those that were recalled: of fifty thousand notes, they would take as much memory as what becomes of them."""
    words: Sequence[str]


@define
class ContentRows:
    """A file that is absent, damaged or of another program is begun anew, and one that cannot be written is done without."""

    root: Path
    name: str
    program: str
    """What the rows come from: another program may make others."""
    max_bytes: int
    """Of all rows: what is over is not kept."""
    words_of: Callable[[Iterable[bytes]], Sequence[str]] = _no_words
    """The words that rows number, each at its place."""
    _file: _Read | None = None
    _used: set[str] = field(factory=set[str])
    """Of the rows of the file and the new ones, those that are to be kept."""
    _new: dict[str, bytes] = field(factory=dict[str, bytes])
    _used_bytes: int = 0

    @property
    def words(self) -> Sequence[str]:
        """Those of the file."""
        return self._read().words

    def recall(self, content_hash: str) -> bytes | None:
        """The row of this content; None where there is none."""
        row = self._row(content_hash)
        if row is not None:
            self._take(content_hash, row)
        return row

    def keep(self, content_hash: str, row: bytes) -> None:
        """Remember it, for good once `save` is called."""
        if content_hash not in self._used and self._take(content_hash, row):
            self._new[content_hash] = row

    def save(self) -> None:
        """Keep what was recalled or kept, and nothing else. It takes no memory any more: whoever asks on begins anew."""
        known = self._read()
        if self._new or self._used != known.hashes:
            again = self._reading()
            if again.mark == known.mark:  # else another process has written, and nobody knows what its numbers mean
                rows = {each: row for each, row in again.rows.items() if each in self._used} | self._new
                content = Content(rows, self.words_of(rows.values()))
                write_derived(self.root, self.name, render_content(self.program, content))
        self._file, self._used, self._new, self._used_bytes = None, set(), {}, 0

    def _row(self, content_hash: str) -> bytes | None:
        known = self._read()
        row = known.rows.pop(content_hash, None)
        if row is None and content_hash in known.hashes:  # a second file of the same content
            again = self._reading()
            return again.rows.get(content_hash) if again.mark == known.mark else None
        return row

    def _take(self, content_hash: str, row: bytes) -> bool:
        """Whether there is room for it among what is to be kept."""
        if content_hash not in self._used and self._used_bytes + len(row) <= self.max_bytes:
            self._used.add(content_hash)
            self._used_bytes += len(row)
        return content_hash in self._used

    def _read(self) -> _Read:
        if self._file is None:
            self._file = self._reading()
        return self._file

    def _reading(self) -> _Read:
        data = read_derived(self.root, self.name, _FILE_BYTES_A_ROW_BYTE * self.max_bytes) or b""
        content = parse_content(data, self.program)
        return _Read(data[:HEAD_BYTES], frozenset(content.rows), {**content.rows}, content.words)
