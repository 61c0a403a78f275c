"""The inbox as it lies there: what waits, what is malformed, snapshots that no entry names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from returns.result import Failure, Success

from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import entry_in
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.file_checks import Found
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.results import sealed
from agent_memory.errors import InboxEntryInvalid
from agent_memory.wording import describe


def examine_pending(root: str, names: Sequence[str], walked: Sequence[Found], now_ms: int) -> Iterator[Symptom]:
    """Every pending entry that cannot be understood, and, of the files that were seen, every snapshot that has waited an
    hour for its entry. While an entry cannot be read it may name any of them (P6)."""
    named: set[str] = set()
    is_all_read = True
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
                is_all_read = False
                yield of.MALFORMED_ENTRY.found(f"{INBOX}/{name}", describe(error).rstrip("."))
    for snapshot in _snapshots(walked) if is_all_read else ():
        if snapshot.path not in named and now_ms - snapshot.mtime_ms > HOUR_MS:
            yield of.ORPHAN_SNAPSHOT.found(
                snapshot.path,
                "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it",
            )


def _snapshots(walked: Sequence[Found]) -> Iterator[Found]:
    for each in walked:
        directory, _, name = each.path.rpartition("/")
        if directory == SNAPSHOTS and not name.startswith("."):
            yield each
