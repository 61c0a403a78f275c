"""Whether a rewritten repository is what it should be: all that stays, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable

from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.adapters.git.purge_choice import Decided
from agent_memory.errors import Error, RecorderFailed


def verify_purge(old: GitProcess, new: GitProcess, decided: Decided) -> Result[None, Error]:
    """Failure where git finds something wrong, where a ref, a commit or a file is missing that should be there, or where
    something is there that should not."""
    return (
        new.must("fsck", "--full", "--no-progress", "--no-dangling")
        .bind(lambda _: _same(old, new, ("for-each-ref", "--format=%(refname)"), "the refs differ"))
        .bind(lambda _: _same(old, new, ("rev-list", "--all", "--count"), "the number of commits differs"))
        .bind(lambda _: _same_tree(old, new, decided))
        .bind(lambda _: _nothing_left(new, decided.gone))
    )


def _same(old: GitProcess, new: GitProcess, words: tuple[str, ...], otherwise: str) -> Result[None, Error]:
    return old.must(*words).bind(
        lambda before: new.must(*words).bind(
            lambda after: Success(None) if before == after else _wrong(" ".join(words), otherwise)
        )
    )


def _same_tree(old: GitProcess, new: GitProcess, decided: Decided) -> Result[None, Error]:
    """The newest commit holds what it held, without what goes."""

    def compared(before: GitOutput, after: GitOutput) -> Result[None, Error]:
        choice = decided.choice
        wanted, found = dict(_tree(before)), dict(_tree(after))
        for path, id in tuple(wanted.items()):
            if choice.drops_path(path) or (path, id) in choice.dropped:
                del wanted[path]
            elif (path, id) in choice.rewritten:
                wanted[path] = found.get(path, "")
        return Success(None) if wanted == found else _wrong("ls-tree HEAD", "the newest commit holds something else")

    words = ("ls-tree", "-r", "-z", "HEAD")
    return old.run(*words).bind(lambda before: new.run(*words).bind(lambda after: compared(before, after)))


def _tree(output: GitOutput) -> Iterable[tuple[str, str]]:
    for line in output.stdout.split(b"\0") if output.ok else ():
        if line:
            head, _, path = line.partition(b"\t")
            yield os.fsdecode(path), head.split(b" ")[2].decode("ascii")


def _nothing_left(new: GitProcess, gone: frozenset[str]) -> Result[None, Error]:
    if not gone:
        return Success(None)
    asked = new.must("cat-file", "--batch-check", input="".join(f"{id}\n" for id in sorted(gone)).encode())
    return asked.bind(
        lambda output: (
            Success(None)
            if all(line.endswith(b" missing") for line in output.splitlines())
            else _wrong("cat-file", "something that was to go is still there")
        )
    )


def _wrong(command: str, what: str) -> Failure[Error]:
    return Failure(RecorderFailed(f"git {command}", 1, f"the rewritten history was refused: {what}"))
