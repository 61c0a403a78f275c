"""The files that setup works on: a person's settings, its own receipt, and the backups.

Settings files are read with every doubt reported, replaced as a whole, and removed with the directories made for
them. The rules for targets of managed sections hold here too. The records are in
`~/.local/state/agent-memory/setup/` (0700): `receipt.json`, `backups/<sha-256>` while the receipt names it, and
`set-aside/<hash>-<name>`, files of ours that somebody had edited. Backups are durable before the receipt, and the
receipt before the file is touched.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import AbstractContextManager

from attrs import evolve, frozen
from returns.result import Result

from agent_memory.errors import Error, SettingsRefused, StateCorrupt, TargetRefused
from agent_memory.files.durable import fsync_directory, make_directories, replace_file
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile, as_store_io, lies_there, read_image
from agent_memory.files.root import is_directory, local_state_directory
from agent_memory.results import T, unwrap
from agent_memory.rules.published import TargetFile
from agent_memory.section.targets import Targets
from agent_memory.setup.plan import Element, Entry, Member, PlannedFile, Receipt, Record, Whole
from agent_memory.text.ids import content_hash
from agent_memory.text.json_codec import Format, tagged_union

_NIX_STORE = "/nix/store/"
_MANAGED = re.compile(
    rb"^[ \t]*(?:#|//|/\*|<!--|;|\*|\{\{).*?\b"
    rb"(chezmoi|home-manager|nix-darwin|nix|ansible|puppet|chef|salt|yadm|dotdrop|mackup)\b",
    re.IGNORECASE,
)
_HEADER_LINES = 10


@frozen
class SettingsFiles:
    """The files of a person; SettingsRefused for one that must not be edited."""

    targets: Targets

    def read(self, path: str) -> TargetFile:
        """Returns the file as it is, even a missing one, with the missing directories. SettingsRefused: not a regular
        file, a link out of the home, read-only, managed by another program."""
        with as_store_io("read", path):
            if os.path.realpath(path).startswith(_NIX_STORE):
                reason = "Nix manages it (it is in the Nix store); put memory's part into your Nix config"
                raise SettingsRefused(path, reason)
            missing = _missing_directories(path)
            if missing:  # the last directory that exists must be writable
                above = os.path.dirname(missing[0])
                if not os.path.isdir(above):
                    raise SettingsRefused(path, f"{above} is not a directory")
                # Judged as a file in that directory would be: its links, and whether it lies in the home.
                _of_settings(self.targets.read(f"{above}/{os.path.basename(missing[0])}"))
                return TargetFile(path, path, None, missing_directories=missing)
            file = _of_settings(self.targets.read(path))
            _require_editable(file)
        return file

    def write(self, file: TargetFile, data: bytes) -> str | None:
        """Replaces its bytes, or creates it with mode 0600 and its directories with 0700; see `Targets.write`. Refused
        if it is no longer what was read."""
        with as_store_io("make the directory of", file.path):
            make_directories(os.path.dirname(file.path))
        if file.missing_directories:
            file = evolve(_of_settings(self.targets.read(file.path)), data=None)
        return _of_settings(self.targets.write(file, data))

    def carry_out(self, planned: PlannedFile, state: SetupState) -> str | None:
        """Writes or removes a file as planned; returns where somebody's edited version of it is kept, if there was one.
        Refused if it is no longer what was read."""
        aside = None
        if planned.set_aside and planned.before is not None:
            aside = state.set_aside(planned.path, planned.before)
        if planned.after is None:
            copy = _of_settings(self.targets.remove(planned.file))
        else:
            copy = self.write(planned.file, planned.after)
        return aside or copy


def without_empty(made: Iterable[str]) -> tuple[str, ...]:
    """Removes those of our directories that are empty; returns the ones that remain."""
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
    """Returns the missing directories. Raises OSError if that cannot be told of one: what is in it would count as
    missing (P6)."""
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
    """Returns the value of an answer by the targets, whose refusals become those of settings here."""
    try:
        return unwrap(result)
    except TargetRefused as error:
        raise SettingsRefused(error.path, error.reason) from None


# -- the receipt and the backups --------------------------------------------------------------------------------------

tagged_union(Entry, "kind", {"element": Element, "member": Member, "whole": Whole})
RECEIPT = Format(Receipt)
MAX_RECEIPT_BYTES = 16 << 20
MAX_BACKUP_BYTES = 8 << 20


class SetupState:
    """The records of setup for the person with this home."""

    def __init__(self, home: str) -> None:
        self.directory = f"{local_state_directory(home)}/setup"
        self._receipt = JsonFile(self.directory, "receipt.json", RECEIPT, MAX_RECEIPT_BYTES)
        self._backups = f"{self.directory}/backups"

    def locked(self) -> AbstractContextManager[None]:
        """Lets one setup or uninstall work at a time; Busy at once while another is at work. The lock dies with its holder."""
        return file_lock(f"{self.directory}.lock", 0)

    def receipt(self) -> Receipt:
        """Returns what is installed; empty if nothing is. A damaged receipt is an error, never empty (P6)."""
        return self._receipt.read() or Receipt()

    def put_receipt(self, receipt: Receipt) -> None:
        """Replaces the receipt, durably; an empty one is no file. Backups that it does not name are removed after it."""
        if receipt == Receipt():
            self._receipt.remove()
        else:
            self._receipt.write(receipt)
        needed = {each.before for each in receipt.records} - {None}
        with as_store_io("tidy up", self._backups):
            if is_directory(self._backups):
                for name in set(os.listdir(self._backups)) - needed:
                    os.unlink(f"{self._backups}/{name}")
                if not needed:
                    os.rmdir(self._backups)
                    fsync_directory(self.directory)

    def keep_backup(self, data: bytes) -> str:
        """Makes a backup durable; returns its name."""
        name = content_hash(data)
        self._keep(self._backups, name, data)
        return name

    def backup(self, record: Record | None) -> bytes | None:
        """Returns the file without ours, as its record names it; None if there was none. A missing or damaged backup is
        an error."""
        if record is None or record.before is None:
            return None
        path = f"{self._backups}/{record.before}"
        image = read_image(path, MAX_BACKUP_BYTES)
        if image is None or content_hash(image.data) != record.before:
            raise StateCorrupt(path, ("the backup is missing, or is not what was put there",))
        return image.data

    def set_aside(self, path: str, data: bytes) -> str:
        """Keeps somebody's version of a file of ours; returns where."""
        return self._keep(f"{self.directory}/set-aside", f"{content_hash(data)[:12]}-{os.path.basename(path)}", data)

    def _keep(self, directory: str, name: str, data: bytes) -> str:
        path = f"{directory}/{name}"
        with as_store_io("write", path):
            make_directories(directory)
            replace_file(path, data)
        return path
