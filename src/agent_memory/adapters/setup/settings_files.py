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
from returns.result import Result

from agent_memory.adapters.disk.durable import fsync_directory, make_directories
from agent_memory.adapters.disk.paths import as_store_io, lies_there, store_io
from agent_memory.adapters.targets import TargetFiles
from agent_memory.domain.installing.plan import SettingsFile
from agent_memory.domain.section import TargetFile
from agent_memory.errors import Error, SettingsRefused, TargetRefused
from agent_memory.results import T, unwrap

_NIX_STORE = "/nix/store/"
_MANAGED = re.compile(
    rb"^[ \t]*(?:#|//|/\*|<!--|;|\*|\{\{).*?\b"
    rb"(chezmoi|home-manager|nix-darwin|nix|ansible|puppet|chef|salt|yadm|dotdrop|mackup)\b",
    re.IGNORECASE,
)
_HEADER_LINES = 10


@frozen
class SettingsFiles:
    """The files of a person, each refused as SettingsRefused where it is not to be edited."""

    targets: TargetFiles

    def read(self, path: str) -> SettingsFile:
        """The file as it is, a missing one too, with directories that are missing. SettingsRefused: no plain file, a link out
        of the home, read-only, managed by another program."""
        try:
            if os.path.realpath(path).startswith(_NIX_STORE):
                reason = "Nix manages it (it is in the Nix store); put memory's part into your Nix config"
                raise SettingsRefused(path, reason)
            missing = _missing_directories(path)
            if missing:
                return self._below_missing(path, missing)
            file = _of_settings(self.targets.read(path))
            _require_editable(file)
        except OSError as error:
            raise store_io(error, "read", path) from None
        except ValueError:  # a NUL in it
            raise SettingsRefused(path, "its name cannot be that of a file") from None
        return SettingsFile(file)

    def write(self, settings: SettingsFile, data: bytes) -> str | None:
        """Replace its bytes, or make it with mode 0600 and its directories with 0700; see `Targets.write`. Refused where it is
        no longer what was read."""
        file = settings.file
        with as_store_io("make the directory of", file.path):
            make_directories(os.path.dirname(file.path))
        if settings.missing_directories:
            file = evolve(_of_settings(self.targets.read(file.path)), data=None)
        return _of_settings(self.targets.write(file, data))

    def remove(self, settings: SettingsFile) -> str | None:
        """Remove it; see `Targets.remove`. Refused where it is no longer what was read."""
        return _of_settings(self.targets.remove(settings.file))

    def _below_missing(self, path: str, missing: tuple[str, ...]) -> SettingsFile:
        """A file whose directory is to be made: the last one that exists must be one that may be written below."""
        above = os.path.dirname(missing[0])
        if not os.path.isdir(above):
            raise SettingsRefused(path, f"{above} is not a directory")
        # Judged as a file of that directory would be: its links and its place in or out of the home.
        _of_settings(self.targets.read(f"{above}/{os.path.basename(missing[0])}"))
        return SettingsFile(TargetFile(path, path, None), missing)


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


def _require_editable(file: TargetFile) -> None:
    if file.data is None:
        return
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    if not os.stat(file.real_path).st_mode & writable or not os.access(file.real_path, os.W_OK):
        raise SettingsRefused(file.path, "it is read-only")
    for line in file.data.split(b"\n", _HEADER_LINES)[:_HEADER_LINES]:
        found = _MANAGED.match(line)
        if found:
            who = found[1].decode()
            reason = f"its header says that {who} manages it; put memory's part where {who} takes it from"
            raise SettingsRefused(file.path, reason)


def _of_settings(result: Result[T, Error]) -> T:
    """The value of what was asked of the targets, whose refusals are those of settings here."""
    try:
        return unwrap(result)
    except TargetRefused as error:
        raise SettingsRefused(error.path, error.reason) from None
