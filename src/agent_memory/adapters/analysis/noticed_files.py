"""What was noticed in notes: `.cache/analysis` of the store. Derived: it may go at any time."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from agent_memory.adapters.disk.derived_file import parse_derived, write_derived_loosely
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.formats.gathered_file import parse_gathered, render_gathered
from agent_memory.values import frozen

CACHE_NAME = "analysis"
MAX_BYTES = 256 << 20
"""More is not kept: it is some 900 bytes a note."""


@frozen
class NoticedFiles:
    """`ports.NoticedNotes` in a file. Where there is none, or it cannot be written, the notes are read again."""

    root: Path
    program: str
    """What notices: another program may notice something else."""
    max_bytes: int = MAX_BYTES

    def recall(self) -> Gathered:
        """See the port."""
        found = parse_derived(self.root, CACHE_NAME, self.max_bytes, partial(parse_gathered, self.program))
        return Gathered() if found is None else found

    def keep(self, gathered: Gathered) -> None:
        """See the port."""
        size_bytes, pieces = render_gathered(self.program, gathered)
        if size_bytes <= self.max_bytes:
            write_derived_loosely(self.root, CACHE_NAME, pieces)
