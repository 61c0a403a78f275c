"""A merge brought to the disk: all of its files in one transaction, then git is told (P2, P5).

The transaction also writes `runs/syncing.json`, which exists exactly while the files are on disk and the branch does not
lead to the merge yet: whoever comes after a crash finishes from there, and nobody takes the files for a person's edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file
from agent_memory.adapters.disk.paths import inside, read_file, real_root, those_there
from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.domain.merging.admission import MAX_FILE_BYTES, why_outside
from agent_memory.domain.merging.tree import EMPTY, Leaf, Tree
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE
from agent_memory.errors import Error, SyncRefused
from agent_memory.formats.sync_json import SyncAtWork, parse_at_work, render_at_work
from agent_memory.ports import Clock
from agent_memory.results import sealed

AT_WORK = "runs/syncing.json"
_JOURNAL_BYTES = 1 << 16


@frozen
class DiskMerge:
    """Merges of one root. The caller holds the write lock."""

    root: Path
    commits: Commits
    clock: Clock

    def carry_out(self, work: SyncAtWork, before: Tree) -> Result[bool, Error]:
        """True: the files of the merge are on disk, and git knows. False, and nothing changed, where somebody is changing the
        same files right now. SyncRefused where a file to be changed holds what git was never told."""
        changes = self.commits.tree(work.to_commit).bind(lambda after: self._changes(before, after))
        return changes.bind(lambda decided: self._committed(work, decided)).bind(self._settled)

    def at_work(self) -> Result[SyncAtWork | None, Error]:
        """The merge that a crash left between disk and git."""
        read = inside(self._real, AT_WORK).bind(lambda path: read_file(path, _JOURNAL_BYTES))
        match sealed(read):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return Success(None)
            case Success(image):
                return parse_at_work(image.data if image else b"", f"{self._real}/{AT_WORK}").map(lambda work: work)

    def finish(self) -> Result[bool, Error]:
        """Carry out the rest of a merge that a crash interrupted; whether there was one."""
        # A transaction that was not finished is undone first, and its journal with it.
        recovered = Transactions(self._real).recover()
        return recovered.bind(lambda _: self.at_work()).bind(
            lambda work: Success(False) if work is None else self._tell_git(work).map(lambda _: True)
        )

    # -- the disk -----------------------------------------------------------------------------------------------------

    def _changes(self, before: Tree, after: Tree) -> Result[tuple[FileChange, ...], Error]:
        touched = [
            path
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path) and not self._is_outside(path, before, after)
        ]
        leaves = [tree[path] for path in touched for tree in (before, after) if path in tree]
        read = contents_of(self.commits.git, {leaf.object_id for leaf in leaves})
        return read.bind(lambda data: self._decided(touched, before, after, data))

    def _is_outside(self, path: str, before: Tree, after: Tree) -> bool:
        leaves = [tree[path] for tree in (before, after) if path in tree]
        return path != IGNORE_FILE and any(why_outside(path, leaf) for leaf in leaves)

    def _decided(
        self, touched: list[str], before: Tree, after: Tree, data: Mapping[str, bytes]
    ) -> Result[tuple[FileChange, ...], Error]:
        changes: list[FileChange] = []
        unrecorded: list[str] = []
        for path in touched:
            known, wanted = _bytes(before.get(path), data), _bytes(after.get(path), data)
            match sealed(inside(self._real, path).bind(lambda absolute: read_file(absolute, MAX_FILE_BYTES))):
                case Failure(error):
                    return Failure(error)
                case Success(image):
                    there = None if image is None else image.data
                    if there not in (known, wanted):
                        unrecorded.append(path)
                    state = None if image is None else FileState(image.data, image.mtime_ns)
                    changes.append(FileChange(path, state, None if wanted is None else FileState(wanted)))
        return Failure(_unrecorded(unrecorded)) if unrecorded else Success(tuple(changes))

    def _committed(self, work: SyncAtWork, changes: tuple[FileChange, ...]) -> Result[SyncAtWork | None, Error]:
        journal = FileChange(AT_WORK, None, FileState(render_at_work(work)))
        transactions = Transactions(self._real)
        committed = transactions.recover().bind(lambda _: transactions.commit((journal, *changes)))
        return committed.map(lambda done: work if done else None)

    def _settled(self, work: SyncAtWork | None) -> Result[bool, Error]:
        return Success(False) if work is None else self._tell_git(work).map(lambda _: True)

    # -- git ----------------------------------------------------------------------------------------------------------

    def _tell_git(self, work: SyncAtWork) -> Result[None, Error]:
        """The branch leads to the merge, the index is as it says, the journal is gone. Doing any of it twice is harmless."""
        now_seconds = self.clock.now_ms() / 1000
        repository = GitRepository(self.commits.git, lambda: now_seconds, lambda _: None)
        return (
            repository.ready()
            .bind(lambda _: self.commits.named(work.branch))
            .bind(lambda head: self._moved(work, head))
            .bind(lambda _: self.fill_index())
            .bind(lambda _: drop_file(self._real, AT_WORK).alt(_as_error))
        )

    def _moved(self, work: SyncAtWork, head: str | None) -> Result[None, Error]:
        if head == work.to_commit:
            return Success(None)
        if head == work.from_commit:
            return self.commits.move(work.branch, work.to_commit, head)
        return self._upon(work, head or work.to_commit)

    def _upon(self, work: SyncAtWork, head: str) -> Result[None, Error]:
        """Somebody has recorded something between a crash and now: the merge with that upon it."""
        before = Success(EMPTY) if work.from_commit is None else self.commits.tree(work.from_commit)

        def made(old: Tree, new: Tree, merge: Tree, parents: tuple[str, ...]) -> Result[str, Error]:
            files = {**merge}
            for path in {*old, *new}:
                if old.get(path) != new.get(path):
                    files.pop(path, None)
                    files |= {path: new[path]} if path in new else {}
            return self.commits.make(files, parents, merge, "sync: what was recorded meanwhile\n", self.clock.now_ms())

        # After a purge the merge has left the old history behind, and it must not come back.
        left_behind = self.commits.has(work.to_commit, work.from_commit) if work.from_commit else Success(True)
        parents = left_behind.map(lambda kept: (work.to_commit, head) if kept else (work.to_commit,))
        return before.bind(
            lambda old: self.commits.tree(head).bind(
                lambda new: self.commits.tree(work.to_commit).bind(
                    lambda merge: parents.bind(lambda those: made(old, new, merge, those))
                )
            )
        ).bind(lambda commit: self.commits.move(work.branch, commit, head))

    def fill_index(self) -> Result[None, Error]:
        """The index as HEAD has it; what is never on disk does not count as removed."""

        def filled(tree: Tree) -> Result[None, Error]:
            outside = [path for path, leaf in tree.items() if path != IGNORE_FILE and why_outside(path, leaf)]
            there = those_there(self._real, outside)
            return there.bind(lambda found: self.commits.fill_index(frozenset(outside) - frozenset(found)))

        return self.commits.tree("HEAD").bind(filled)

    @property
    def _real(self) -> str:
        return real_root(self.root)


def _bytes(leaf: Leaf | None, data: Mapping[str, bytes]) -> bytes | None:
    return None if leaf is None else data.get(leaf.object_id)


def _unrecorded(paths: list[str]) -> SyncRefused:
    named = ", ".join(paths[:5]) + (" and others" if len(paths) > 5 else "")
    return SyncRefused(
        f"the other machine has changed what is not recorded here: {named}",
        "It seems to hold a secret, or cannot be read (`memory doctor --secrets`); remove that, or commit it yourself.",
    )


def _as_error(error: Error) -> Error:
    return error
