"""The receipt of setup and the backups, in `~/.local/state/agent-memory/setup/`: 0700, and never beside the files.

    receipt.json              what of ours is in which file
    backups/<sha-256>         a file without ours, while the receipt names it
    set-aside/<hash>-<name>   files of ours that somebody had edited when they were replaced or removed; these stay

Backups are durable before the receipt that names them, and the receipt before the file is touched: whatever is in a file of
the person's, the receipt knows of it.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, replace_file
from agent_memory.adapters.disk.locks import file_lock
from agent_memory.adapters.disk.paths import as_store_io, read_image
from agent_memory.adapters.disk.root_files import JsonFile
from agent_memory.adapters.surroundings.root import is_directory, local_state_directory
from agent_memory.domain.installing.receipt import Receipt, sha256_of
from agent_memory.domain.installing.wanted import Element, Entry, Member, Whole
from agent_memory.errors import StateCorrupt
from agent_memory.formats.json_codec import Format, tagged_union

tagged_union(Entry, "kind", {"element": Element, "member": Member, "whole": Whole})
RECEIPT = Format(Receipt)
MAX_RECEIPT_BYTES = 16 << 20
MAX_BACKUP_BYTES = 8 << 20


class SetupState:
    """What setup remembers for the person with this home."""

    def __init__(self, home: str) -> None:
        self.directory = f"{local_state_directory(home)}/setup"
        self._receipt = JsonFile(self.directory, "receipt.json", RECEIPT, MAX_RECEIPT_BYTES)
        self._backups = f"{self.directory}/backups"

    def locked(self) -> AbstractContextManager[None]:
        """One setup or uninstall at a time; Busy at once while another is at work. The lock dies with its holder."""
        return file_lock(f"{self.directory}.lock", 0)

    def receipt(self) -> Receipt:
        """What is installed; empty where nothing is. A damaged receipt is an error, never empty (P6)."""
        return self._receipt.read() or Receipt()

    def put_receipt(self, receipt: Receipt) -> None:
        """Replace the receipt, durably; an empty one is no file. Backups that it does not name are removed after it."""
        if receipt == Receipt():
            self._receipt.remove()
        else:
            self._receipt.write(receipt)
        with as_store_io("tidy up", self._backups):
            self._prune(receipt)

    def keep_backup(self, data: bytes) -> str:
        """Make a backup durable; its name."""
        name = sha256_of(data)
        self._keep(self._backups, name, data)
        return name

    def backup(self, name: str | None) -> bytes | None:
        """The bytes of a backup; None for None. One that is gone or damaged is an error."""
        if name is None:
            return None
        path = f"{self._backups}/{name}"
        image = read_image(path, MAX_BACKUP_BYTES)
        if image is None or sha256_of(image.data) != name:
            raise StateCorrupt(path, ("the backup is missing, or is not what was put there",))
        return image.data

    def set_aside(self, path: str, data: bytes) -> str:
        """Keep what somebody has made of a file of ours; where."""
        return self._keep(f"{self.directory}/set-aside", f"{sha256_of(data)[:12]}-{os.path.basename(path)}", data)

    def _keep(self, directory: str, name: str, data: bytes) -> str:
        path = f"{directory}/{name}"
        with as_store_io("write", path):
            make_directories(directory)
            replace_file(path, data)
        return path

    def _prune(self, receipt: Receipt) -> None:
        if not is_directory(self._backups):
            return
        for name in set(os.listdir(self._backups)) - receipt.backups:
            os.unlink(f"{self._backups}/{name}")
        if not receipt.backups:
            os.rmdir(self._backups)
            fsync_directory(self.directory)
