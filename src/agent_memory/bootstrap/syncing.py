"""The room of `memory sync`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import inside, read_file
from agent_memory.adapters.setup.detection import memory_program
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.adapters.syncing.disk_merge import DiskMerge
from agent_memory.adapters.syncing.synchroniser import Synchroniser
from agent_memory.bootstrap.forgetting import forgetter
from agent_memory.bootstrap.person_only import by_a_person
from agent_memory.bootstrap.unfinished import finish_all, tolerated
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone
from agent_memory.domain.merging.synced import Synced, SyncRequest
from agent_memory.domain.merging.tree import Tree
from agent_memory.domain.results import sealed
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import EntryNotFound, Error, SyncRefused
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.formats.tombstone_json import Tombstone, parse_tombstone
from agent_memory.values import evolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent_memory.bootstrap.memory import Memory

_MAX_BYTES = 4 << 20
_WITHOUT_GIT = SyncRefused("storage.autoCommit is off, and what is not committed cannot be synced", "Set it to true.")


def sync(memory: Memory, request: SyncRequest, progress: Callable[[str], None]) -> Result[Synced, Error]:
    """As `Memory.sync` has it."""
    act = "sync --after-purge" if request.after_purge else "sync --remote" if request.remote is not None else None
    allowed = Success(None) if act is None else by_a_person(memory, act)
    if isinstance(allowed, Failure):
        return Failure(allowed.failure())
    if not memory.config.storage.auto_commit:
        return Failure(_WITHOUT_GIT)
    named = evolve(request, remote=_whole(request.remote, memory.cwd))
    with memory.locks.run() as held:
        finished = held if request.dry_run else held.bind(lambda _: finish_all(memory))
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
    if address is None or "://" in address:
        return address
    there = os.path.join(cwd or "/", os.path.expanduser(address))
    return os.path.abspath(there) if os.path.isdir(there) else address


# -- what follows from a merge ----------------------------------------------------------------------------------------


def _followed(memory: Memory, before: Tree, after: Mapping[str, object]) -> Result[object, Error]:
    """What was forgotten elsewhere leaves no traces here either, and the managed sections show what is there now."""
    news = sorted(path for path in after if path.startswith(FORGOTTEN) and before.get(path) != after[path])
    for path in news:
        forgotten = _without_traces(memory, path)
        if isinstance(forgotten, Failure):
            return forgotten
    if _shown(before) != _shown(after):
        return tolerated(memory, memory.publish())
    return Success(None)


def _shown(tree: Mapping[str, object]) -> dict[str, object]:
    return {path: leaf for path, leaf in tree.items() if path.startswith("topics/") or path == TIERS_FILE}


def _without_traces(memory: Memory, path: str) -> Result[object, Error]:
    """Kept histories, runs and inbox entries of what another machine forgot go here, too (P28)."""
    read = inside(str(memory.root), path).bind(lambda absolute: read_file(absolute, _MAX_BYTES))
    image = read.value_or(None)
    tombstone = None if image is None else parse_tombstone(image.data, path).value_or(None)
    if tombstone is None:
        return Success(None)  # `memory doctor` tells of one that is damaged
    forgets = forgetter(memory)
    match sealed(forgets.look(_target_of(tombstone))):
        case Failure(EntryNotFound()):
            return Success(None)
        case Failure(error):
            return Failure(error)
        case Success(found):
            return forgets.forget(found) if _leaves_traces(found.told) else Success(None)


def _target_of(tombstone: Tombstone) -> ForgetTarget:
    match tombstone:
        case EntryTombstone(id, _, _):
            return ForgetTarget(id)
        case SessionTombstone(session_id, harness, _):
            return ForgetTarget(session=SessionKey(session_id, harness))


def _leaves_traces(told: Forgetting) -> bool:
    return bool(told.notes or told.shared or told.linked or told.inbox or told.runs or told.histories or told.marks)
