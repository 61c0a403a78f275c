"""What an answer says of the notes that are missing from it because they cannot be read (P6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_memory.domain.entry import UnreadableFile
from agent_memory.errors import EntryUnreadable
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe


def unreadable_documents(files: Iterable[UnreadableFile]) -> list[dict[str, Any]]:
    """For `--json`, under `unreadable`."""
    return [{"path": each.path, "problems": list(each.problems)} for each in files]


def tell_unreadable(console: Console, files: Iterable[UnreadableFile]) -> None:
    """One sentence each, on stderr."""
    for each in files:
        console.err(f"memory: {describe(EntryUnreadable(each.path, each.problems))}")
