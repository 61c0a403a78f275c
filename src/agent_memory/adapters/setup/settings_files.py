"""Settings files of harnesses: read with every doubt spoken out, replaced as a whole, removed with the directories made for them.

What holds for the targets of managed sections holds here too: links are followed inside the home, special files are refused,
mode and owner stay, and what somebody else writes at the same moment is noticed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, make_directories
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.targets.target_files import TargetFiles
from agent_memory.domain.installing.plans import SettingsFile
from agent_memory.domain.target_file import TargetFile
from agent_memory.errors import Error, SettingsRefused, TargetRefused

_NIX_STORE = "/nix/store/"
_MANAGED = re.compile(
    rb"^[ \t]*(?:#|//|/\*|<!--|;|\*|\{\{).*?\b"
    rb"(chezmoi|home-manager|nix-darwin|nix|ansible|puppet|chef|salt|yadm|dotdrop|mackup)\b",
    re.IGNORECASE,
)
_HEADER_LINES = 10


@frozen
class SettingsFiles:
    """The files of the person with this home; nothing under `root` is one."""

    targets: TargetFiles

    def read(self, path: str) -> Result[SettingsFile, Error]:
        """The file as it is, a missing one too, with directories that are missing. SettingsRefused says why it is not to be
        edited: no plain file, a link out of the home, read-only, managed by another program."""
        try:
            real = os.path.realpath(path)
            if real.startswith(_NIX_STORE):
                return _refused(path, "Nix manages it (it is in the Nix store); put memory's part into your Nix config")
            missing = _missing_directories(path)
            if missing:
                return self._below_missing(path, missing)
            return self.targets.read(path).alt(_as_settings).bind(lambda file: _editable(path, file))
        except OSError as error:
            return Failure(store_io(error, "read", path))
        except ValueError:  # a NUL in it
            return _refused(path, "its name cannot be that of a file")

    def write(self, settings: SettingsFile, data: bytes) -> Result[str | None, Error]:
        """Replace its bytes, or make it with mode 0600 and its directories with 0700; see `Targets.write`. Refused where it is
        no longer what was read."""
        try:
            make_directories(os.path.dirname(settings.file.path))
        except OSError as error:
            return Failure(store_io(error, "make the directory of", settings.file.path))
        if not settings.missing_directories:
            return self.targets.write(settings.file, data).alt(_as_settings)
        return (
            self.targets.read(settings.file.path)
            .bind(lambda file: self.targets.write(evolve(file, data=None), data))
            .alt(_as_settings)
        )

    def remove(self, settings: SettingsFile) -> Result[str | None, Error]:
        """Remove it; see `Targets.remove`. Refused where it is no longer what was read."""
        return self.targets.remove(settings.file).alt(_as_settings)

    def _below_missing(self, path: str, missing: tuple[str, ...]) -> Result[SettingsFile, Error]:
        """A file whose directory is to be made: the last one that exists must be one that may be written below."""
        above = os.path.dirname(missing[0])
        if not os.path.isdir(above):
            return _refused(path, f"{above} is not a directory")
        # Judged as a file of that directory would be: its links and its place in or out of the home.
        judged = self.targets.read(f"{above}/{os.path.basename(missing[0])}").alt(_as_settings)
        if isinstance(judged, Failure):
            return judged
        return Success(SettingsFile(TargetFile(path, path, None), missing))


def without_empty(made: Iterable[str]) -> tuple[str, ...]:
    """Of the directories that we made, those that still stand, once those that hold nothing are removed."""
    standing: list[str] = []
    for directory in sorted(set(made), key=len, reverse=True):
        try:
            os.rmdir(directory)
            fsync_directory(os.path.dirname(directory))
        except FileNotFoundError:
            continue
        except OSError:  # somebody uses it
            standing.append(directory)
    return tuple(reversed(standing))


def _missing_directories(path: str) -> tuple[str, ...]:
    """Raises OSError where it cannot be told of one: what is in it would count as not there (P6)."""
    missing: list[str] = []
    directory = os.path.dirname(os.path.normpath(path))
    while not lies_there(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    return tuple(reversed(missing))


def _editable(path: str, file: TargetFile) -> Result[SettingsFile, Error]:
    if file.data is None:
        return Success(SettingsFile(file))
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    if not os.stat(file.real_path).st_mode & writable or not os.access(file.real_path, os.W_OK):
        return _refused(path, "it is read-only")
    for line in file.data.split(b"\n", _HEADER_LINES)[:_HEADER_LINES]:
        found = _MANAGED.match(line)
        if found:
            who = found[1].decode()
            return _refused(path, f"its header says that {who} manages it; put memory's part where {who} takes it from")
    return Success(SettingsFile(file))


def _as_settings(error: Error) -> Error:
    return SettingsRefused(error.path, error.reason) if isinstance(error, TargetRefused) else error


def _refused(path: str, reason: str) -> Failure[Error]:
    return Failure(SettingsRefused(path, reason))
