"""Commits of a store's repository, read and made without touching the work tree or the index; and a merge brought to the disk:
all of its files in one transaction, then git is told (P2, P5).

The transaction also writes `runs/syncing.json`, which exists exactly while the files are on disk and the branch does not
lead to the merge yet: whoever comes after a crash finishes from there, and nobody takes the files for a person's edits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from attrs import frozen

from agent_memory.adapters.disk.paths import (
    JsonFile,
    path_in,
    read_image,
    real_root,
    remove_file,
    those_there,
)
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.git.git_process import OURSELVES, GitOutput, GitProcess, GitRepository, failed
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import FileChange, FileState
from agent_memory.domain.commit_message import IGNORE_FILE
from agent_memory.domain.merging import EMPTY, MAX_FILE_BYTES, Held, Leaf, Tree, why_outside
from agent_memory.domain.text.plain_text import first_few
from agent_memory.errors import SyncRefused
from agent_memory.formats.bookkeeping_json import SYNCING, SyncAtWork

AGREED = "refs/agent-memory/agreed"
"""What this machine and its remote last had in common: what was sent, or found there, and nothing that was recorded since."""

INCOMING = "refs/agent-memory/incoming"

_AT_WORK = "runs/syncing.json"
_MADE = "refs/agent-memory/made"
_NO = 1
"""How git ends where the answer to a question is no."""


@frozen
class Commits:
    """Those of one root's repository."""

    git: GitProcess

    def named(self, name: str) -> str | None:
        """The commit that a ref leads to; None where there is no such ref."""
        output = self._asked("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        return output.text if output.ok else None

    def branch(self) -> str | None:
        """The ref that HEAD is on; None where it is on none."""
        output = self.git.run("symbolic-ref", "--quiet", "HEAD")
        return output.text if output.ok else None

    def tree(self, commit: str | None) -> Tree:
        """Every file of a commit; of none nothing."""
        if commit is None:
            return EMPTY
        tree: dict[str, Leaf] = {}
        for line in self.git.must("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, id, size = head.decode("ascii").split()
                tree[os.fsdecode(path)] = Leaf(mode, id, int(size) if size.isdigit() else 0)
        return tree

    def has(self, descendant: str, ancestor: str) -> bool:
        """Whether a commit has the other in its history, or is the other."""
        return self._asked("merge-base", "--is-ancestor", ancestor, descendant).ok

    def ancestor(self, one: str, other: str) -> str | None:
        """The best common ancestor of two; None where they have none."""
        return self._asked("merge-base", one, other).text.partition("\n")[0] or None

    def _asked(self, *words: str) -> GitOutput:
        output = self.git.run(*words)
        if output.status not in (0, _NO):
            raise failed(words, output)
        return output

    def make(self, files: Mapping[str, Held], parents: tuple[str, ...], first: Tree, message: str, at_ms: int) -> str:
        """A commit that holds exactly these files; `first` is the tree of the first parent. No branch leads to it yet."""
        said = message.encode("utf-8", "replace")
        lines = [
            f"commit {_MADE}\nmark :1\ncommitter {OURSELVES[0]} <{OURSELVES[1]}> {at_ms // 1000} +0000\n".encode(),
            b"data %d\n%s\n" % (len(said), said),
            *(f"{word} {parent}\n".encode() for word, parent in zip(("from", "merge"), parents, strict=False)),
            *(b"D %s\n" % _quoted(path) for path in first if path not in files),
        ]
        for path, held in files.items():
            if isinstance(held, bytes):
                lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(held), held))
            elif first.get(path) != held:
                lines.append(b"M %s %s %s\n" % (held.mode.encode(), held.object_id.encode(), _quoted(path)))
        stream = b"".join([*lines, b"\nget-mark :1\ndone\n"])
        made = self.git.must("fast-import", "--quiet", "--force", "--done", "--date-format=raw", input=stream)
        self.drop(_MADE)
        return made.decode("ascii").strip()

    def drop(self, ref: str) -> None:
        """Remove a ref; one that is not there counts as removed."""
        self.git.must("update-ref", "-d", ref)

    def forget_remote_history(self) -> None:
        """Nothing is known any more of what remotes had, and nothing stays that no ref leads to (P28)."""
        # Below our own refs there is also what earlier versions kept, and nobody moves any more.
        listed = self.git.must(
            "for-each-ref", "--format=%(refname)", "refs/remotes/", "refs/agent-memory/"
        ).splitlines()
        refs = [ref for ref in listed if ref != AGREED.encode()]
        self.git.must("update-ref", "--no-deref", "--stdin", input=b"".join(b"delete %s\n" % ref for ref in refs))
        self.git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self.git.must("gc", "--quiet", "--prune=now")

    # -- a merge on disk; the caller holds the write lock ---------------------------------------------------------------

    def apply(self, work: SyncAtWork, before: Tree, now_ms: int) -> bool:
        """True: the files of the merge are on disk, and git knows. False, and nothing changed, where somebody is changing the
        same files right now. SyncRefused where a file to be changed holds what git was never told."""
        real, after = real_root(self.git.root), self.tree(work.to_commit)
        touched = [
            path
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path) and not (_is_outside(path, before) or _is_outside(path, after))
        ]
        data = contents_of(
            self.git, {tree[path].object_id for path in touched for tree in (before, after) if path in tree}
        )
        changes = [FileChange(_AT_WORK, None, FileState(SYNCING.render(work).encode()))]
        unrecorded: list[str] = []
        for path in touched:
            known, wanted = (data.get(tree[path].object_id) if path in tree else None for tree in (before, after))
            image = read_image(path_in(real, path), MAX_FILE_BYTES)
            if (None if image is None else image.data) not in (known, wanted):
                unrecorded.append(path)
            state = None if image is None else FileState(image.data, image.mtime_ns)
            changes.append(FileChange(path, state, None if wanted is None else FileState(wanted)))
        if unrecorded:
            raise SyncRefused(
                f"the other machine has changed what is not recorded here: {first_few(unrecorded, 5)}",
                "It seems to hold a secret, or cannot be read (`memory doctor --secrets`); remove that, or commit it yourself.",
            )
        transactions = Transactions(real)
        transactions.recover()
        if not transactions.commit(changes):
            return False
        self._tell_git(work, now_ms)
        return True

    def finish(self, now_ms: int) -> None:
        """Carry out the rest of a merge that a crash left between disk and git, if there is one."""
        # A transaction that was not finished is undone first, and its journal with it.
        Transactions(real_root(self.git.root)).recover()
        work = JsonFile(self.git.root, _AT_WORK, SYNCING).read()
        if work is not None:
            self._tell_git(work, now_ms)

    def _tell_git(self, work: SyncAtWork, now_ms: int) -> None:
        """The branch leads to the merge, the index is as it says, the journal is gone. Doing any of it twice is harmless."""
        GitRepository(self.git).ready()
        head, commit = self.named(work.branch), work.to_commit
        if head not in (work.from_commit, commit, None):
            commit = self._upon(work, head, now_ms)
        if head != commit:  # provided that the branch still leads there, or is not there yet
            self.git.must("update-ref", "-m", "sync", work.branch, commit, head or "0" * len(commit))
        if not self.git.run("read-tree", "-m", "HEAD").ok:
            self.git.must("read-tree", "--reset", "HEAD")
        # What is never on disk is marked, so that git does not take it for removed.
        real, tree = real_root(self.git.root), self.tree("HEAD")
        outside = [path for path in tree if _is_outside(path, tree)]
        if absent := frozenset(outside) - frozenset(those_there(real, outside)):
            listed = b"".join(os.fsencode(path) + b"\0" for path in sorted(absent))
            self.git.must("update-index", "--skip-worktree", "-z", "--stdin", input=listed)
        remove_file(real, _AT_WORK)

    def _upon(self, work: SyncAtWork, head: str, now_ms: int) -> str:
        """The commit of the merge with what somebody has recorded between a crash and now upon it."""
        old, new, merge = (self.tree(each) for each in (work.from_commit, head, work.to_commit))
        changed = {path for path in {*old, *new} if old.get(path) != new.get(path)}
        files = {path: leaf for path, leaf in merge.items() if path not in changed}
        files |= {path: leaf for path, leaf in new.items() if path in changed}
        # After a purge the merge has left the old history behind, and it must not come back.
        is_kept = work.from_commit is None or self.has(work.to_commit, work.from_commit)
        parents = (work.to_commit, head) if is_kept else (work.to_commit,)
        return self.make(files, parents, merge, "sync: what was recorded meanwhile\n", now_ms)


def _is_outside(path: str, tree: Tree) -> bool:
    return path != IGNORE_FILE and path in tree and why_outside(path, tree[path]) is not None


def _quoted(path: str) -> bytes:
    plain = os.fsencode(path)
    return b'"%s"' % plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
