"""What a run changed on disk, with what was there before: all that undo and diff need."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.recording.file_change import FileChange


@frozen
class SectionChange:
    """How a run changed the managed section of one target."""

    path: str
    """Absolute, of the real file."""
    before: str | None
    """The section with its markers; None where there was none."""
    after: str | None
    separator: str = ""
    """What was put between the file's own text and a section that was appended."""
    created: bool = False
    """There was no file."""


@frozen
class Footprint:
    """The files under the root in the order in which they were changed, and the sections."""

    files: tuple[FileChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()
