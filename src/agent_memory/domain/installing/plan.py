"""What setup and uninstall are asked for, what they are about to do, what became of it, and the receipt: what setup has put into a
person's files, all that uninstall needs besides the backups."""

from __future__ import annotations

import difflib
import hashlib
from typing import Annotated, Literal

from attrs import frozen

from agent_memory.domain.installing.wanted import Act, Entry, Part, SelfTest, Syntax
from agent_memory.domain.redaction import redact
from agent_memory.domain.section import TargetFile
from agent_memory.errors import Error

_DIGITS = frozenset("0123456789abcdef")


def _digest_problem(text: str) -> str | None:
    return None if len(text) == 64 and set(text) <= _DIGITS else "is no SHA-256"


def _path_problem(text: str) -> str | None:
    return None if text.startswith("/") else "is no absolute path"


Digest = Annotated[str, _digest_problem]
FilePath = Annotated[str, _path_problem]


@frozen
class FileRecord:
    """A file with entries of ours."""

    path: FilePath
    syntax: Syntax
    before: Digest | None
    """SHA-256 of the file without ours, under which its backup is kept; None where there was no file."""
    after: Digest
    """SHA-256 of the file as we left it: while it is that, nobody has touched it since."""
    placed: tuple[Entry, ...]

    @property
    def harnesses(self) -> tuple[str, ...]:
        return tuple(harness for each in self.placed for harness in each.harnesses)


@frozen
class SectionRecord:
    """An instruction file that was made a target."""

    path: FilePath
    before: Digest | None
    """SHA-256 of the file before, under which its backup is kept; None where there was no file."""
    harnesses: tuple[str, ...]


Record = FileRecord | SectionRecord


@frozen
class Receipt:
    """Everything that setup has installed and uninstall has not removed."""

    files: tuple[FileRecord, ...] = ()
    sections: tuple[SectionRecord, ...] = ()
    made_directories: tuple[FilePath, ...] = ()
    """Directories that were made for them."""

    @property
    def records(self) -> tuple[Record, ...]:
        return (*self.files, *self.sections)

    def file(self, path: str) -> FileRecord | None:
        """The record of this file."""
        return next((each for each in self.files if each.path == path), None)

    def section(self, path: str) -> SectionRecord | None:
        """The record of this instruction file."""
        return next((each for each in self.sections if each.path == path), None)

    @property
    def harnesses(self) -> frozenset[str]:
        """The harnesses that something is installed for."""
        return frozenset(harness for each in self.records for harness in each.harnesses)

    @property
    def backups(self) -> frozenset[str]:
        """The backups that are still needed."""
        return frozenset(each.before for each in self.records if each.before is not None)


def sha256_of(data: bytes) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def repository_name(top: str) -> str:
    """What stands in a harness's place for the files of the repository whose work tree begins at `top`."""
    return f"repository:{top}"


# -- requests, plans, outcomes -------------------------------------------------------------------------------------------


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
