"""The inbox as it lies there: what waits, what is malformed, snapshots that no entry names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from returns.result import Failure, Success

from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_snapshots import SNAPSHOTS
from agent_memory.adapters.inbox.inbox_texts import entry_in
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.inbox_entry import FileSnapshot
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.results import sealed
from agent_memory.errors import InboxEntryInvalid
from agent_memory.wording import describe


def examine_pending(root: str, names: Sequence[str], now_ms: int) -> Iterator[Symptom]:
    """Every pending entry that cannot be understood, and every snapshot that has waited an hour for its entry."""
    named: set[str] = set()
    for name in names:
        match sealed(entry_in(f"{root}/{INBOX}/{name}")):
            case Success(entry):
                if entry is not None and isinstance(entry.retrieval, FileSnapshot):
                    named.add(entry.retrieval.path)
            case Failure(InboxEntryInvalid(problems)):
                yield of.MALFORMED_ENTRY.found(
                    f"{INBOX}/{name}", f"It is no inbox entry: {'; '.join(problems)}; the next run moves it aside"
                )
            case Failure(error):
                yield of.MALFORMED_ENTRY.found(f"{INBOX}/{name}", describe(error).rstrip("."))
    for path in _snapshots(root):
        if path not in named and _age_ms(f"{root}/{path}", now_ms) > HOUR_MS:
            yield of.ORPHAN_SNAPSHOT.found(
                path, "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it"
            )


def _snapshots(root: str) -> list[str]:
    try:
        names = sorted(os.listdir(f"{root}/{SNAPSHOTS}"))
    except OSError:
        return []
    return [f"{SNAPSHOTS}/{name}" for name in names if not name.startswith(".")]


def _age_ms(path: str, now_ms: int) -> int:
    try:
        return now_ms - os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
