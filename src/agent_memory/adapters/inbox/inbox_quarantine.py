"""Malformed inbox files: moved aside with the reason beside them, never deleted (P6), and without secrets (P20)."""

from __future__ import annotations

import json
import os

from attrs import field, frozen

from agent_memory.adapters.disk.durable import make_directories, move_file, replace_file
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.inbox.inbox_put import random_digits
from agent_memory.adapters.inbox.inbox_texts import printable
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import Quarantined
from agent_memory.domain.redacted_path import redact_path, redact_with_paths

REASON_ENDING = ".reason.json"
_MAX_NAME_BYTES = 200
_MAX_REDACTED_BYTES = 16 << 20
"""A larger file, 250 times as large as an entry may be, is moved as it is."""


@frozen
class Quarantine:
    """Where the malformed files of one load go. `taken` grows with each."""

    root: str
    source: str
    target: str
    now_ms: int
    taken: list[Quarantined] = field(factory=list[Quarantined])

    def take(self, name: str, problems: tuple[str, ...]) -> tuple[Quarantined, ...]:
        """Move the file and write its reason; what could not be moved is returned, and stays where it is.

        The reason is durable before the file moves, so a crash in between loses nothing and is mended by the next load.
        """
        safe_name = redact_path(name.removesuffix(".json")) + ".json"
        problems = tuple(redact_with_paths(each) for each in problems)
        reason = "; ".join(problems)
        target = f"{self.root}/{self.target}"
        try:
            make_directories(target)
            free = _free_name(target, safe_name)
            _take_out_secrets(f"{self.root}/{self.source}/{name}")
            replace_file(f"{target}/{free}{REASON_ENDING}", self._reason(safe_name, problems))
            move_file(f"{self.root}/{self.source}/{name}", f"{target}/{free}")
        except OSError as error:
            return (Quarantined(printable(safe_name), f"{reason}; and it could not be moved aside: {error.strerror}"),)
        self.taken.append(Quarantined(printable(safe_name), reason))
        return ()

    def _reason(self, name: str, problems: tuple[str, ...]) -> bytes:
        document = {"version": 1, "name": name, "at": iso_of(self.now_ms), "problems": problems}
        return (json.dumps(document, indent=1) + "\n").encode()


def _take_out_secrets(path: str) -> None:
    """Replace what is secret in a regular file: whatever it was meant to be, it stays on the disk now."""
    image = read_file(path, _MAX_REDACTED_BYTES).value_or(None)
    text = "" if image is None else image.data.decode(errors="surrogateescape")
    if (safe := redact_with_paths(text)) != text:
        replace_file(path, safe.encode(errors="surrogateescape"))


def _free_name(directory: str, name: str) -> str:
    """The name, unless it is taken or leaves no room for the reason's; then a part of it with random digits. Raises OSError
    where that cannot be told: what bears it already would be written over (P6)."""
    if len(os.fsencode(name)) <= _MAX_NAME_BYTES:
        try:
            os.lstat(f"{directory}/{name}")
        except FileNotFoundError:
            return name
    stem = os.fsdecode(os.fsencode(name.removesuffix(".json"))[: _MAX_NAME_BYTES - 20])
    return f"{stem}~{random_digits()}.json"
