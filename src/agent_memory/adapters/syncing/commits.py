"""Commits of a store's repository, read and made without touching the work tree or the index."""

from __future__ import annotations

import os
from collections.abc import Mapping

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import OURSELVES, GitOutput, GitProcess, failed
from agent_memory.domain.merging.tree import Leaf, Tree
from agent_memory.errors import Error

AGREED = "refs/agent-memory/agreed"
"""What this machine and its remote last had in common: what was sent, or found there, and nothing that was recorded since."""

SYNCED = "refs/agent-memory/synced"
"""The same for older versions. They set it to what was recorded when the push had ended, so that it may lie past what was
sent: where there is no AGREED, only what the remote has of it counts."""

_MADE = "refs/agent-memory/made"
_NOT_SO = 1
"""How git ends where the answer to a question is no."""


@frozen
class Commits:
    git: GitProcess

    def named(self, name: str) -> Result[str | None, Error]:
        """The commit that a ref leads to; None where there is no such ref."""

        def found(output: GitOutput) -> Result[str | None, Error]:
            if output.status in (0, _NOT_SO):
                return Success(output.stdout.decode("ascii").strip() if output.ok else None)
            return Failure(failed(("rev-parse",), output))

        return self.git.run("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}").bind(found)

    def branch(self) -> Result[str | None, Error]:
        """The ref that HEAD is on; None where it is on none."""
        asked = self.git.run("symbolic-ref", "--quiet", "HEAD")
        return asked.map(lambda output: output.stdout.decode("utf-8", "replace").strip() if output.ok else None)

    def tree(self, commit: str) -> Result[Tree, Error]:
        """Every file of a commit."""
        return self.git.must("ls-tree", "-r", "-l", "-z", "--full-tree", commit).map(_tree)

    def has(self, descendant: str, ancestor: str) -> Result[bool, Error]:
        """Whether a commit has the other in its history, or is the other."""

        def told(output: GitOutput) -> Result[bool, Error]:
            if output.status in (0, _NOT_SO):
                return Success(output.ok)
            return Failure(failed(("merge-base",), output))

        return self.git.run("merge-base", "--is-ancestor", ancestor, descendant).bind(told)

    def ancestor(self, one: str, other: str) -> Result[str | None, Error]:
        """The best common ancestor of two; None where they have none."""

        def told(output: GitOutput) -> Result[str | None, Error]:
            if output.status in (0, _NOT_SO):
                return Success(output.stdout.decode("ascii").partition("\n")[0] or None)
            return Failure(failed(("merge-base",), output))

        return self.git.run("merge-base", one, other).bind(told)

    def make(
        self, files: Mapping[str, Leaf | bytes], parents: tuple[str, ...], first: Tree, message: str, at_ms: int
    ) -> Result[str, Error]:
        """A commit that holds exactly these files; `first` is the tree of the first parent. No branch leads to it yet."""
        stream = _import_stream(files, parents, first, message, at_ms)
        made = self.git.must("fast-import", "--quiet", "--force", "--done", "--date-format=raw", input=stream)
        return made.bind(lambda stdout: self.drop(_MADE).map(lambda _: stdout.decode("ascii").strip()))

    def move(self, ref: str, commit: str, was: str | None) -> Result[None, Error]:
        """Let a ref lead to a commit, provided that it still leads to `was` (None: that it is not there)."""
        nothing = "0" * len(commit)
        return self.git.must("update-ref", "-m", "sync", ref, commit, was or nothing).map(lambda _: None)

    def agree(self, commit: str) -> Result[None, Error]:
        """The remote has this commit, and this machine all that is in it."""
        lines = "".join(f"update {ref} {commit}\n" for ref in (AGREED, SYNCED))
        return self.git.must("update-ref", "--stdin", input=lines.encode()).map(lambda _: None)

    def drop(self, ref: str) -> Result[None, Error]:
        """Remove a ref; one that is not there counts as removed."""
        return self.git.must("update-ref", "-d", ref).map(lambda _: None)

    def fill_index(self, absent: frozenset[str]) -> Result[None, Error]:
        """The index as HEAD has it. These paths, which are never on disk, are marked so that git does not take them for
        removed."""
        filled = self.git.must("read-tree", "-m", "HEAD").lash(lambda _: self.git.must("read-tree", "--reset", "HEAD"))
        if not absent:
            return filled.map(lambda _: None)
        listed = b"".join(os.fsencode(path) + b"\0" for path in sorted(absent))
        return filled.bind(
            lambda _: self.git.must("update-index", "--skip-worktree", "-z", "--stdin", input=listed).map(
                lambda _: None
            )
        )

    def drop_remote_branches(self) -> Result[None, Error]:
        """Nothing is known any more of what remotes had."""

        def dropped(listed: bytes) -> Result[None, Error]:
            lines = b"".join(b"delete %s\n" % ref for ref in listed.splitlines())
            return self.git.must("update-ref", "--no-deref", "--stdin", input=lines).map(lambda _: None)

        return self.git.must("for-each-ref", "--format=%(refname)", "refs/remotes/").bind(dropped)

    def forget_unreachable(self) -> Result[None, Error]:
        """Nothing stays in the repository that no ref leads to (P28)."""
        return (
            self.git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
            .bind(lambda _: self.git.must("gc", "--quiet", "--prune=now"))
            .map(lambda _: None)
        )


def _tree(listed: bytes) -> Tree:
    tree: dict[str, Leaf] = {}
    for line in listed.split(b"\0"):
        if line:
            head, _, path = line.partition(b"\t")
            mode, _, id, size = head.split()
            tree[os.fsdecode(path)] = Leaf(mode.decode("ascii"), id.decode("ascii"), int(size) if size.isdigit() else 0)
    return tree


def _import_stream(
    files: Mapping[str, Leaf | bytes], parents: tuple[str, ...], first: Tree, message: str, at_ms: int
) -> bytes:
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
