"""The files of a footprint: which of them can be put back, and what entries that makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Generic, TypeVar

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed
from agent_memory.domain.footprint import fold_files
from agent_memory.domain.recording.file_change import FileChange, FileState, hash_of
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.ids import ID_PATTERN
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import Error, UndoRefused
from agent_memory.results import sealed

T = TypeVar("T")

_NOTE = re.compile(rf"{TOPICS}/[^/]+\.md|{ARCHIVE}/(?:({ID_PATTERN})/)?[^/]+\.md", re.DOTALL)


def is_reversible(path: str) -> bool:
    """Whether it is a path of an entry, or that of the tier list (P21)."""
    return path == TIERS_FILE or _NOTE.fullmatch(path) is not None


@frozen
class GoingBack(Generic[T]):
    """What of a run is taken back."""

    value: T
    files: Sequence[FileChange]
    staying: Set[str]
    """The ids of the entries that stay as they are."""


def going_back(
    changes: Sequence[FileChange],
    attempt: Callable[[Sequence[FileChange]], Result[tuple[T, Mapping[str, str]], Error]],
) -> Result[GoingBack[T], Error]:
    """As many files of the run as can be taken back together. `attempt` says of some of them why which path cannot be; then it
    stays, with the other files of the entries that it is about. UndoRefused with all reasons, the run in it to be filled in
    by the caller, where nothing is left."""
    folded = fold_files(changes)
    groups = files_together([*folded.files, *(FileChange(path, None, None) for path in folded.interrupted)])
    reasons = {path: f"{path} was changed by somebody else while the run was at work" for path in folded.interrupted}
    while True:
        left = {path for hindered in reasons for path in groups[hindered]}
        files = [each for each in folded.files if each.path not in left]
        if reasons and not files:
            return Failure(UndoRefused("", tuple(dict.fromkeys(reasons.values()))))
        match sealed(attempt(files)):
            case Failure(error):
                return Failure(error)
            case Success((value, more)):
                if not more:
                    return Success(GoingBack(value, files, _ids_in(each for each in folded.files if each.path in left)))
                reasons |= more


def files_together(notes: Sequence[FileChange]) -> dict[str, set[str]]:
    """For each path those that stay or go with it: the files of the same entries."""
    of_path = {change.path: {change.path} for change in notes}
    first_of: dict[str, str] = {}
    for change in notes:
        for id in _ids_in((change,)):
            one, other = of_path[first_of.setdefault(id, change.path)], of_path[change.path]
            if one is not other:
                one |= other
                of_path.update(dict.fromkeys(other, one))
    return of_path


def _ids_in(notes: Iterable[FileChange]) -> set[str]:
    entries = (entry_in(change.path, state) for change in notes for state in (change.before, change.after))
    metas = [each.meta for each in entries if each is not None]
    return {id for meta in metas for id in (meta.id, *meta.aliases, *meta.supersedes)}


def without(tiers: TierList, ids: Set[str]) -> TierList:
    """The tiers of all others."""
    return TierList(*(tuple(id for id in each if id not in ids) for each in (tiers.hot, tiers.warm)))


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
