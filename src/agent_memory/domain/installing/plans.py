"""What setup and uninstall are asked for, what they are about to do, and what became of it."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.ground import Act
from agent_memory.domain.installing.receipt import FileRecord, SectionRecord
from agent_memory.domain.installing.wanted import Part, Play
from agent_memory.domain.target_file import TargetFile
from agent_memory.errors import Error


@frozen
class Wish:
    """Which harnesses are to be set up, and with what."""

    harnesses: tuple[str, ...]
    parts: frozenset[Part]
    repository: str | None = None
    """The top of a work tree whose own instruction file is to be a target."""


@frozen
class SettingsFile:
    """A settings file as it lies on disk."""

    file: TargetFile
    missing_directories: tuple[str, ...] = ()
    """Directories on the way to it that do not exist, the outermost first."""


@frozen
class PlannedFile:
    """One settings file, and what is to become of it."""

    settings: SettingsFile
    edit: FileEdit
    record: FileRecord | None
    """What is kept of it from then on; None: nothing."""
    backup: bytes | None = None
    """The file without ours."""
    set_aside: bytes | None = None
    """A file of ours that somebody has edited: what it is kept as."""


@frozen
class PlannedSection:
    """One instruction file, and what is to become of its section."""

    settings: SettingsFile
    edit: FileEdit
    record: SectionRecord | None
    backup: bytes | None = None


@frozen
class Refused:
    """A file that stays as it is."""

    path: str
    error: Error


@frozen
class InstallPlan:
    """Everything that is about to be done, in order; nothing is done yet."""

    files: tuple[PlannedFile, ...] = ()
    sections: tuple[PlannedSection, ...] = ()
    refused: tuple[Refused, ...] = ()
    plays: tuple[tuple[str, Play], ...] = ()
    """By harness: how it will call us."""
    notes: tuple[str, ...] = field(default=())
    """Whole sentences for the person."""

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The files that change."""
        each = (*(file.edit for file in self.files), *(section.edit for section in self.sections))
        return tuple(edit for edit in each if edit.is_change)


@frozen
class FileOutcome:
    """What became of one file."""

    path: str
    outcome: Literal["planned", "written", "removed", "unchanged", "refused"]
    error: Error | None = None
    diff: str = ""
    set_aside: str | None = None
    """Where the edited version of a file of ours is kept."""


@frozen
class Played:
    """A trial of one call: whether it arrived in the inbox, or a note in the answer, and if not, what is known about it."""

    harness: str
    command: str
    arrived: bool
    problem: str = ""
    act: Act = "capture"
