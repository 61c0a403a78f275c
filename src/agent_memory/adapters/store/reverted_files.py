"""The files of a footprint: which of them can be put back, and what entries that makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed
from agent_memory.domain.recording.file_change import FileChange, FileState, hash_of
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.ids import ID_PATTERN
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import Error, UndoRefused

_NOTE = re.compile(rf"{TOPICS}/[^/]+\.md|{ARCHIVE}/(?:({ID_PATTERN})/)?[^/]+\.md", re.DOTALL)


def is_reversible(path: str) -> bool:
    """Whether it is a path of an entry, or that of the tier list (P21)."""
    return path == TIERS_FILE or _NOTE.fullmatch(path) is not None


def refused_for(reasons: Iterable[str]) -> Result[None, Error]:
    """UndoRefused, the run in it to be filled in, unless there is no reason."""
    found = tuple(reasons)
    return Failure(UndoRefused("", found)) if found else Success(None)


def reverted_entries(notes: Sequence[FileChange]) -> Iterator[Applied]:
    """For each entry what was done to its files. They are now what `before` says of them."""
    by_id: dict[str, list[FileChange]] = {}
    for change in notes:
        by_id.setdefault(_id_of(change), []).append(change)
    for id, changes in by_id.items():
        paths = tuple(change.path for change in changes)
        live = [change for change in changes if change.path.startswith(f"{TOPICS}/")]
        was = next((change for change in live if change.after is not None), None)
        now = next((change for change in live if change.before is not None), None)
        path = next((change.path for change in (now, was) if change is not None), paths[0])
        hashes = (None if was is None else hash_of(was.after), None if now is None else hash_of(now.before))
        yield Applied(id, "revert", path, paths, *hashes)


def _id_of(change: FileChange) -> str:
    entry = entry_in(change.path, change.before or change.after)
    return entry.meta.id if entry is not None else id_in_name(change.path.rpartition("/")[2]) or ""


def live_in(change: FileChange, state: FileState | None) -> Listed | None:
    """The live entry that a file of `topics/` holds in this state."""
    return entry_in(change.path, state) if change.path.startswith(f"{TOPICS}/") else None


def entry_in(path: str, state: FileState | None) -> Listed | None:
    """The entry that this file holds; None where there is no file, or it is no entry."""
    if state is None:
        return None
    return understand(path, state.data, state.mtime_ns or 0).map(lambda stored: stored.listed).value_or(None)
