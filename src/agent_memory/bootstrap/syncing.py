"""The room of `memory sync`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.detection import memory_program
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.adapters.syncing.disk_merge import DiskMerge
from agent_memory.adapters.syncing.synchroniser import Synchroniser
from agent_memory.bootstrap.forgetting import forgetter
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.merging.synced import Synced, SyncRequest
from agent_memory.domain.merging.tree import Tree
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import EntryNotFound, Error, SyncRefused
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.formats.tombstone_json import parse_tombstone
from agent_memory.results import as_result, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent_memory.app import Memory

_WITHOUT_GIT = SyncRefused("storage.autoCommit is off, and what is not committed cannot be synced", "Set it to true.")


def sync(memory: Memory, request: SyncRequest, progress: Callable[[str], None]) -> Result[Synced, Error]:
    """As `Memory.sync` has it."""
    act = "sync --after-purge" if request.after_purge else "sync --remote" if request.remote is not None else None
    allowed = Success(None) if act is None else as_result(memory.only_a_person)(act)
    if isinstance(allowed, Failure):
        return Failure(allowed.failure())
    if not memory.config.storage.auto_commit:
        return Failure(_WITHOUT_GIT)
    named = evolve(request, remote=_whole(request.remote, memory.cwd))
    with memory.locks.run() as held:
        finished = held if request.dry_run else held.bind(lambda _: as_result(memory.finish_all)())
        return finished.bind(lambda _: synchroniser(memory, progress).sync(named))


def synchroniser(memory: Memory, progress: Callable[[str], None]) -> Synchroniser:
    """What syncs this store."""
    return Synchroniser(
        root=memory.root,
        git=memory.git_process,
        recorder=memory.recorder,
        locks=memory.locks,
        clock=memory.clock,
        program=memory_program(memory.environ),
        forget=lambda tombstones: _forgotten(memory, tombstones),
        after_merge=lambda before, after: _followed(memory, before, after),
        tell=progress,
        warn=memory.warn,
    )


def finish_merge(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of a merge that crashed between the disk and git."""
    with memory.locks.write() as held:
        return held.bind(lambda _: DiskMerge(memory.root, Commits(memory.git_process), memory.clock).finish())


def _whole(address: str | None, cwd: str | None) -> str | None:
    """The address; of a directory that is there the whole path."""
    if not address or "://" in address:
        return address
    there = os.path.join(cwd or "/", os.path.expanduser(address))
    return os.path.abspath(there) if os.path.isdir(there) else address


# -- what goes with a merge -------------------------------------------------------------------------------------------


def _followed(memory: Memory, before: Tree, after: Mapping[str, object]) -> Result[object, Error]:
    """The managed sections show what is there now."""
    return Success(None) if _shown(before) == _shown(after) else as_result(memory.tolerate)(memory.publish())


def _shown(tree: Mapping[str, object]) -> dict[str, object]:
    return {path: leaf for path, leaf in tree.items() if path.startswith("topics/") or path == TIERS_FILE}


def _forgotten(memory: Memory, tombstones: Sequence[bytes]) -> Result[bool, Error]:
    """Notes, kept histories, runs and inbox entries of what another machine forgot go here, too (P28)."""
    gone = False
    for data in tombstones:
        tombstone = parse_tombstone(data, FORGOTTEN).value_or(None)
        if tombstone is None or isinstance(tombstone, StateTombstone):
            continue  # `memory doctor` tells of one that is damaged; the merge leaves out a state value
        done = _without_traces(memory, tombstone)
        if isinstance(done, Failure):
            return done
        gone = done.unwrap() or gone
    return Success(gone)


def _without_traces(memory: Memory, tombstone: SessionTombstone | EntryTombstone) -> Result[bool, Error]:
    forgets = forgetter(memory)
    match sealed(forgets.look(_target_of(tombstone))):
        case Failure(EntryNotFound()):
            return Success(False)
        case Failure(error):
            return Failure(error)
        case Success(found):
            if not _leaves_traces(found.told):
                return Success(False)
            return forgets.forget(found).map(lambda _: True)


def _target_of(tombstone: SessionTombstone | EntryTombstone) -> ForgetTarget:
    match tombstone:
        case EntryTombstone(id, _, _):
            return ForgetTarget(id)
        case SessionTombstone(session_id, harness, _):
            return ForgetTarget(session=SessionKey(session_id, harness))


def _leaves_traces(told: Forgetting) -> bool:
    return bool(told.notes or told.shared or told.linked or told.inbox or told.runs or told.histories or told.marks)
