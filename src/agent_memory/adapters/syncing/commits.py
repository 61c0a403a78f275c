"""Commits of a store's repository, read and made without touching the work tree or the index."""

from __future__ import annotations

import os
from collections.abc import Mapping

from attrs import frozen

from agent_memory.adapters.git.git_process import OURSELVES, GitOutput, GitProcess, failed
from agent_memory.domain.merging import EMPTY, Held, Leaf, Tree

AGREED = "refs/agent-memory/agreed"
"""What this machine and its remote last had in common: what was sent, or found there, and nothing that was recorded since."""

SYNCED = "refs/agent-memory/synced"
"""The same for older versions. They set it to what was recorded when the push had ended, so that it may lie past what was
sent: where there is no AGREED, only what the remote has of it counts."""

INCOMING = "refs/agent-memory/incoming"
"""What was fetched last."""

_MADE = "refs/agent-memory/made"
_NO = 1
"""How git ends where the answer to a question is no."""


@frozen
class Commits:
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

    def ancestor(self, one: str | None, other: str | None) -> str | None:
        """The best common ancestor of two; None where they have none."""
        if one is None or other is None:
            return None
        return self._asked("merge-base", one, other).text.partition("\n")[0] or None

    def _asked(self, *words: str) -> GitOutput:
        output = self.git.run(*words)
        if output.status not in (0, _NO):
            raise failed(words, output)
        return output

    def make(self, files: Mapping[str, Held], parents: tuple[str, ...], first: Tree, message: str, at_ms: int) -> str:
        """A commit that holds exactly these files; `first` is the tree of the first parent. No branch leads to it yet."""
        stream = _import_stream(files, parents, first, message, at_ms)
        made = self.git.must("fast-import", "--quiet", "--force", "--done", "--date-format=raw", input=stream)
        self.drop(_MADE)
        return made.decode("ascii").strip()

    def move(self, ref: str, commit: str, was: str | None) -> None:
        """Let a ref lead to a commit, provided that it still leads to `was` (None: that it is not there)."""
        self.git.must("update-ref", "-m", "sync", ref, commit, was or "0" * len(commit))

    def agree(self, commit: str) -> None:
        """The remote has this commit, and this machine all that is in it."""
        lines = "".join(f"update {ref} {commit}\n" for ref in (AGREED, SYNCED))
        self.git.must("update-ref", "--stdin", input=lines.encode())

    def drop(self, ref: str) -> None:
        """Remove a ref; one that is not there counts as removed."""
        self.git.must("update-ref", "-d", ref)

    def fill_index(self, absent: frozenset[str]) -> None:
        """The index as HEAD has it. These paths, which are never on disk, are marked so that git does not take them for
        removed."""
        if not self.git.run("read-tree", "-m", "HEAD").ok:
            self.git.must("read-tree", "--reset", "HEAD")
        if absent:
            listed = b"".join(os.fsencode(path) + b"\0" for path in sorted(absent))
            self.git.must("update-index", "--skip-worktree", "-z", "--stdin", input=listed)

    def forget_remote_history(self) -> None:
        """Nothing is known any more of what remotes had, and nothing stays that no ref leads to (P28)."""
        self.drop(INCOMING)
        refs = self.git.must("for-each-ref", "--format=%(refname)", "refs/remotes/").splitlines()
        self.git.must("update-ref", "--no-deref", "--stdin", input=b"".join(b"delete %s\n" % ref for ref in refs))
        self.git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self.git.must("gc", "--quiet", "--prune=now")


def _import_stream(files: Mapping[str, Held], parents: tuple[str, ...], first: Tree, message: str, at_ms: int) -> bytes:
    said = message.encode("utf-8", "replace")
    lines = [
        f"commit {_MADE}\nmark :1\ncommitter {OURSELVES.name} <{OURSELVES.email}> {at_ms // 1000} +0000\n".encode(),
        b"data %d\n%s\n" % (len(said), said),
        *(f"{word} {parent}\n".encode() for word, parent in zip(("from", "merge"), parents, strict=False)),
        *(b"D %s\n" % _quoted(path) for path in first if path not in files),
    ]
    for path, held in files.items():
        if isinstance(held, bytes):
            lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(held), held))
        elif first.get(path) != held:
            lines.append(b"M %s %s %s\n" % (held.mode.encode(), held.object_id.encode(), _quoted(path)))
    return b"".join([*lines, b"\nget-mark :1\ndone\n"])


def _quoted(path: str) -> bytes:
    plain = os.fsencode(path)
    return b'"%s"' % plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
