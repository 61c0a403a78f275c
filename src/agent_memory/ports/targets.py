"""The files that hold a managed section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from returns.result import Result

    from agent_memory.domain.target_file import TargetFile
    from agent_memory.errors import Error


class Targets(Protocol):
    """The files in which we own one managed section (P17)."""

    def read(self, path: str) -> Result[TargetFile, Error]:
        """The file as it is, a missing one too. TargetRefused for what must not be written: a directory, a device, a link
        that leaves the home."""
        ...

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        """Replace the file's bytes, atomically, keeping mode and owner. EntryChanged-like refusal (TargetRefused) where it
        is no longer what `file` says. Where a section goes that nothing here wrote, a copy of it is durable before: its path."""
        ...

    def remove(self, file: TargetFile) -> Result[str | None, Error]:
        """Remove a file that we had created and that is still what `file` says; the copy of its section as above."""
        ...
