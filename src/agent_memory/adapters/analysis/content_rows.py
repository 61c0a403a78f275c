"""Rows by the hash of a file's content, in one file of `.cache/` of the store. Derived: it may go at any time."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.formats.noticed_rows import parse_rows, render_rows
from agent_memory.values import define, field


@define
class ContentRows:
    """A file that is absent, damaged or of another program is begun anew, and one that cannot be written is done without."""

    root: Path
    name: str
    program: str
    """What the rows come from: another program may make others."""
    max_bytes: int
    """Of all rows: what is over is not kept."""
    _known: dict[str, bytes] | None = None
    _used: dict[str, bytes] = field(factory=dict[str, bytes])
    _used_bytes: int = 0

    def recall(self, content_hash: str) -> bytes | None:
        """The row of this content; None where there is none."""
        row = self._rows().get(content_hash)
        if row is not None:
            self.keep(content_hash, row)
        return row

    def keep(self, content_hash: str, row: bytes) -> None:
        """Remember it, for good once `save` is called. A row is one line."""
        if content_hash not in self._used and self._used_bytes + len(row) <= self.max_bytes:
            self._used[content_hash] = row
            self._used_bytes += len(row)

    def save(self) -> None:
        """Keep what was recalled or kept, and nothing else."""
        if self._used.keys() == self._rows().keys():
            return
        write_derived(self.root, self.name, render_rows(self.program, self._used))
        self._known = self._used

    def _rows(self) -> dict[str, bytes]:
        if self._known is None:
            data = read_derived(self.root, self.name, 2 * self.max_bytes)
            self._known = {} if data is None else parse_rows(data, self.program)
        return self._known
