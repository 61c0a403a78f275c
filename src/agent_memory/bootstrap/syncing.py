"""The room of `memory sync`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve

from agent_memory.adapters.surroundings.shipped_files import memory_program
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.adapters.syncing.disk_merge import DiskMerge
from agent_memory.adapters.syncing.synchroniser import Synchroniser
from agent_memory.bootstrap.forgetting import forgetter
from agent_memory.domain.forgetting.forgetting import ForgetTarget
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone
from agent_memory.domain.forgetting.traces import SessionKey
from agent_memory.domain.merging.synced import Synced, SyncRequest
from agent_memory.domain.merging.tree import Tree
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import EntryNotFound, StateCorrupt, SyncRefused
from agent_memory.formats.bookkeeping_json import parse_tombstone
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent_memory.app import Memory

_WITHOUT_GIT = SyncRefused("storage.autoCommit is off, and what is not committed cannot be synced", "Set it to true.")


@as_result
def sync(memory: Memory, request: SyncRequest, progress: Callable[[str], None]) -> Synced:
    """As `Memory.sync` has it."""
    act = "sync --after-purge" if request.after_purge else "sync --remote" if request.remote is not None else None
    if act is not None:
        memory.only_a_person(act)
    if not memory.config.storage.auto_commit:
        raise _WITHOUT_GIT
    named = evolve(request, remote=_whole(request.remote, memory.cwd))
    with memory.locks.run() as held:
        unwrap(held)
        if not request.dry_run:
            memory.finish_all()
        return _synchroniser(memory, progress).sync(named)


def _synchroniser(memory: Memory, progress: Callable[[str], None]) -> Synchroniser:
    return Synchroniser(
        root=memory.root,
        git=memory.git_process,
        recorder=memory.recorder,
        locks=memory.locks,
        clock=memory.clock,
        program=memory_program(memory.environ),
        forget=lambda tombstones: _forget(memory, tombstones),
        after_merge=lambda before, after: _follow(memory, before, after),
        tell=progress,
        warn=memory.warn,
    )


def finish_merge(memory: Memory) -> None:
    """Carry out the rest of a merge that crashed between the disk and git."""
    with memory.locks.write() as held:
        unwrap(held)
        DiskMerge(memory.root, Commits(memory.git_process), memory.clock).finish()


def _whole(address: str | None, cwd: str | None) -> str | None:
    """The address; of a directory that is there the whole path."""
    if not address or "://" in address:
        return address
    there = os.path.join(cwd or "/", os.path.expanduser(address))
    return os.path.abspath(there) if os.path.isdir(there) else address


# -- what goes with a merge -------------------------------------------------------------------------------------------


def _follow(memory: Memory, before: Tree, after: Mapping[str, object]) -> None:
    """The managed sections show what is there now."""
    if _shown(before) != _shown(after):
        memory.tolerate(memory.publish())


def _shown(tree: Mapping[str, object]) -> dict[str, object]:
    return {path: leaf for path, leaf in tree.items() if path.startswith("topics/") or path == TIERS_FILE}


def _forget(memory: Memory, tombstones: Sequence[bytes]) -> bool:
    """Notes, kept histories, runs and inbox entries of what another machine forgot go here, too (P28); whether any went."""
    forgets = forgetter(memory)
    gone = False
    for data in tombstones:
        try:
            tombstone = parse_tombstone(data, FORGOTTEN)
        except StateCorrupt:
            continue  # `memory doctor` tells of it
        match tombstone:
            case EntryTombstone(id, _, _):
                target = ForgetTarget(id)
            case SessionTombstone(session_id, harness, _):
                target = ForgetTarget(session=SessionKey(session_id, harness))
            case _:
                continue  # the merge leaves out a state value
        try:
            found = forgets.look(target)
        except EntryNotFound:
            continue
        if found.told.is_known:
            forgets.forget(found)
            gone = True
    return gone
