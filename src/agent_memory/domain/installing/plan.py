"""What setup and uninstall are asked for, what they are about to do, and what became of it."""

from __future__ import annotations

import difflib
from typing import Literal

from attrs import frozen

from agent_memory.domain.installing.receipt import Record
from agent_memory.domain.installing.wanted import Act, Part, SelfTest
from agent_memory.domain.redaction import redact
from agent_memory.domain.section import TargetFile
from agent_memory.errors import Error


@frozen
class SetupRequest:
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
class FileEdit:
    """What is to become of a file; None: there is none."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """A unified diff, without secrets: settings hold keys of other servers, and a screen is often shared."""
        old, new = (self.path if each is not None else "/dev/null" for each in (self.before, self.after))
        before, after = ((each or b"").decode("utf-8", "replace").splitlines() for each in (self.before, self.after))
        return redact("\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))).text


@frozen
class PlannedFile:
    """One file, and what is to become of it."""

    settings: SettingsFile
    after: bytes | None
    record: Record | None
    """What is kept of it from then on; None: nothing."""
    backup: bytes | None = None
    """The file without ours."""
    set_aside: bool = False
    """It is a file of ours that somebody has edited: that version is kept."""

    @property
    def path(self) -> str:
        return self.settings.file.path

    @property
    def edit(self) -> FileEdit:
        return FileEdit(self.path, self.settings.file.data, self.after)


@frozen
class Refused:
    """A file that stays as it is."""

    path: str
    error: Error


@frozen
class InstallPlan:
    """Everything that is about to be done, in order; nothing is done yet."""

    files: tuple[PlannedFile, ...] = ()
    refused: tuple[Refused, ...] = ()
    self_tests: tuple[tuple[str, SelfTest], ...] = ()
    """By harness: how it will call us."""
    notes: tuple[str, ...] = ()
    """Whole sentences for the person."""

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The files that change."""
        return tuple(each.edit for each in self.files if each.edit.is_change)


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
class SelfTestResult:
    """Whether a call arrived in the inbox, or a note in its answer, and if not, what is known about it."""

    harness: str
    command: str
    arrived: bool
    problem: str = ""
    act: Act = "capture"
