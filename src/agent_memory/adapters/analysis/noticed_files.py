"""What was noticed in notes: `.cache/analysis` of the store. Derived: it may go at any time."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.formats.noticed_rows import parse_row, parse_rows, render_row, render_rows
from agent_memory.values import define, field

CACHE_NAME = "analysis"
MAX_BYTES = 64 << 20
"""Of all rows: what is over is noticed anew each time."""


@define
class NoticedFiles:
    """`ports.NoticedNotes` in a file. One that is absent, damaged or of another version is begun anew, and one that cannot
    be written is done without: then the notes are read again."""

    root: Path
    program: str
    max_bytes: int = MAX_BYTES
    _known: dict[str, bytes] | None = None
    _used: dict[str, bytes] = field(factory=dict[str, bytes])
    _used_bytes: int = 0

    def recall(self, content_hash: str) -> Noticed | None:
        """See the port."""
        row = self._rows().get(content_hash)
        if row is None:
            return None
        self._use(content_hash, row)
        return parse_row(row)

    def keep(self, content_hash: str, noticed: Noticed) -> None:
        """See the port."""
        self._use(content_hash, render_row(noticed))

    def save(self) -> None:
        """See the port."""
        if self._used.keys() == self._rows().keys():
            return
        write_derived(self.root, CACHE_NAME, render_rows(self.program, self._used))
        self._known = self._used

    def _use(self, content_hash: str, row: bytes) -> None:
        if content_hash not in self._used and self._used_bytes + len(row) <= self.max_bytes:
            self._used[content_hash] = row
            self._used_bytes += len(row)

    def _rows(self) -> dict[str, bytes]:
        if self._known is None:
            data = read_derived(self.root, CACHE_NAME, 2 * self.max_bytes)
            self._known = {} if data is None else parse_rows(data, self.program)
        return self._known
