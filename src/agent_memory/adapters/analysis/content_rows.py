"""Rows by the hash of a file's content, in one file of `.cache/` of the store. Derived: it may go at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.formats.content_file import Content, parse_content, render_content
from agent_memory.values import define, field

_FILE_BYTES_A_ROW_BYTE = 2
"""So much larger than all rows a file may be, with their keys and words."""


def _no_words(_rows: Iterable[bytes]) -> Sequence[str]:
    return ()


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
    _known: Content | None = None
    _used: dict[str, bytes] = field(factory=dict[str, bytes])
    _used_bytes: int = 0

    @property
    def words(self) -> Sequence[str]:
        """Those of the file."""
        return self._content().words

    def recall(self, content_hash: str) -> bytes | None:
        """The row of this content; None where there is none."""
        row = self._content().rows.get(content_hash)
        if row is not None:
            self.keep(content_hash, row)
        return row

    def keep(self, content_hash: str, row: bytes) -> None:
        """Remember it, for good once `save` is called."""
        if content_hash not in self._used and self._used_bytes + len(row) <= self.max_bytes:
            self._used[content_hash] = row
            self._used_bytes += len(row)

    def save(self) -> None:
        """Keep what was recalled or kept, and nothing else. It takes no memory any more: whoever asks on begins anew."""
        if self._used.keys() != self._content().rows.keys():
            content = Content(self._used, self.words_of(self._used.values()))
            write_derived(self.root, self.name, render_content(self.program, content))
        self._known, self._used, self._used_bytes = None, {}, 0

    def _content(self) -> Content:
        if self._known is None:
            data = read_derived(self.root, self.name, _FILE_BYTES_A_ROW_BYTE * self.max_bytes)
            self._known = Content() if data is None else parse_content(data, self.program)
        return self._known
