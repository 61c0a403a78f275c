"""What setup has put into a person's files: all that uninstall needs, besides the backups."""

from __future__ import annotations

import hashlib
from typing import Annotated

from attrs import frozen

from agent_memory.domain.installing.wanted import Entry, Syntax

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
