"""A merge brought to the disk: all of its files in one transaction, then git is told (P2, P5).

The transaction also writes `runs/syncing.json`, which exists exactly while the files are on disk and the branch does not
lead to the merge yet: whoever comes after a crash finishes from there, and nobody takes the files for a person's edits.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from agent_memory.adapters.disk.paths import path_in, read_image, real_root, those_there
from agent_memory.adapters.disk.root_files import MAX_STATE_BYTES, read_bytes, remove_file
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.domain.merging import MAX_FILE_BYTES, Tree, why_outside
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE
from agent_memory.errors import SyncRefused
from agent_memory.formats.bookkeeping_json import SyncAtWork, parse_at_work, render_at_work
from agent_memory.ports import Clock

AT_WORK = "runs/syncing.json"


@frozen
class DiskMerge:
    """Merges of one root. The caller holds the write lock."""

    root: Path
    commits: Commits
    clock: Clock

    def carry_out(self, work: SyncAtWork, before: Tree) -> bool:
        """True: the files of the merge are on disk, and git knows. False, and nothing changed, where somebody is changing the
        same files right now. SyncRefused where a file to be changed holds what git was never told."""
        changes = self._changes(before, self.commits.tree(work.to_commit))
        journal = FileChange(AT_WORK, None, FileState(render_at_work(work)))
        transactions = Transactions(real_root(self.root))
        transactions.recover()
        if not transactions.commit((journal, *changes)):
            return False
        self._tell_git(work)
        return True

    def finish(self) -> bool:
        """Carry out the rest of a merge that a crash left between disk and git; whether there was one."""
        real = real_root(self.root)
        # A transaction that was not finished is undone first, and its journal with it.
        Transactions(real).recover()
        data = read_bytes(real, AT_WORK, MAX_STATE_BYTES)
        if data is None:
            return False
        self._tell_git(parse_at_work(data, f"{real}/{AT_WORK}"))
        return True

    # -- the disk -----------------------------------------------------------------------------------------------------

    def _changes(self, before: Tree, after: Tree) -> tuple[FileChange, ...]:
        touched = [
            path
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path) and not self._is_outside(path, before, after)
        ]
        data = contents_of(
            self.commits.git, {tree[path].object_id for path in touched for tree in (before, after) if path in tree}
        )
        changes: list[FileChange] = []
        unrecorded: list[str] = []
        for path in touched:
            known, wanted = (data.get(tree[path].object_id) if path in tree else None for tree in (before, after))
            image = read_image(path_in(real_root(self.root), path), MAX_FILE_BYTES)
            if (None if image is None else image.data) not in (known, wanted):
                unrecorded.append(path)
            state = None if image is None else FileState(image.data, image.mtime_ns)
            changes.append(FileChange(path, state, None if wanted is None else FileState(wanted)))
        if unrecorded:
            named = ", ".join(unrecorded[:5]) + (" and others" if len(unrecorded) > 5 else "")
            raise SyncRefused(
                f"the other machine has changed what is not recorded here: {named}",
                "It seems to hold a secret, or cannot be read (`memory doctor --secrets`); remove that, or commit it yourself.",
            )
        return tuple(changes)

    def _is_outside(self, path: str, *trees: Tree) -> bool:
        return path != IGNORE_FILE and any(path in tree and why_outside(path, tree[path]) for tree in trees)

    # -- git ----------------------------------------------------------------------------------------------------------

    def _tell_git(self, work: SyncAtWork) -> None:
        """The branch leads to the merge, the index is as it says, the journal is gone. Doing any of it twice is harmless."""
        GitRepository(self.commits.git).ready()
        head = self.commits.named(work.branch)
        if head == work.from_commit:
            self.commits.move(work.branch, work.to_commit, head)
        elif head != work.to_commit:
            self._move_upon(work, head or work.to_commit)
        self._fill_index()
        remove_file(real_root(self.root), AT_WORK)

    def _move_upon(self, work: SyncAtWork, head: str) -> None:
        """Somebody has recorded something between a crash and now: the merge with that upon it."""
        old, new, merge = (self.commits.tree(each) for each in (work.from_commit, head, work.to_commit))
        files = {**merge}
        for path in {*old, *new}:
            if old.get(path) != new.get(path):
                files.pop(path, None)
                files |= {path: new[path]} if path in new else {}
        # After a purge the merge has left the old history behind, and it must not come back.
        is_kept = work.from_commit is None or self.commits.has(work.to_commit, work.from_commit)
        parents = (work.to_commit, head) if is_kept else (work.to_commit,)
        said = "sync: what was recorded meanwhile\n"
        commit = self.commits.make(files, parents, merge, said, self.clock.now_ms())
        self.commits.move(work.branch, commit, head)

    def _fill_index(self) -> None:
        """The index as HEAD has it; what is never on disk does not count as removed."""
        tree = self.commits.tree("HEAD")
        outside = [path for path in tree if self._is_outside(path, tree)]
        there = those_there(real_root(self.root), outside)
        self.commits.fill_index(frozenset(outside) - frozenset(there))
