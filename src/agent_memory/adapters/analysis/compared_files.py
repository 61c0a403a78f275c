"""What comparing all notes found: `.cache/compared` of the store. Derived: it may go at any time."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.domain.analysis.compared import Compared
from agent_memory.formats.compared_file import parse_compared, render_compared
from agent_memory.values import frozen

CACHE_NAME = "compared"
MAX_BYTES = 64 << 20
"""More is not kept."""


@frozen
class ComparedFiles:
    """`ports.KeptComparisons` in a file. One that is damaged, of another program or not to be written is done without."""

    root: Path
    program: str
    """What compares: another program may find something else."""
    max_bytes: int = MAX_BYTES

    def recall(self, key: str) -> Compared | None:
        """See the port."""
        return parse_compared(self.program, self._data(), key)

    def keep(self, key: str, compared: Compared | None) -> None:
        """See the port."""
        before = self._data()
        data = render_compared(self.program, before, key, compared)
        if len(data) > self.max_bytes:
            data = render_compared(self.program, before, key, None)
        if data != before:
            write_derived(self.root, CACHE_NAME, data)

    def _data(self) -> bytes:
        return read_derived(self.root, CACHE_NAME, self.max_bytes) or b""
