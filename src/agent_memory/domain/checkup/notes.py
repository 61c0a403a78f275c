"""A note as an examination sees it: the file's own text beside what is understood of it."""

from __future__ import annotations

from agent_memory.domain.entry import StoredEntry
from agent_memory.values import frozen


@frozen
class NoteFile:
    """One readable file of `topics/`."""

    path: str
    """Relative to the root."""
    text: str
    """The whole file."""
    stored: StoredEntry
    written_tags: tuple[str, ...] = ()
    """The tags as they stand in the frontmatter."""
    mtime_ms: int = 0
    """When the file was last written, whatever it says of itself."""
    copy_of: str | None = None
    """The path of the live entry whose id this file bears too."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]
