"""The store's git repository: what keeps its history from being written, and what of it `--fix` mends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from agent_memory.adapters.disk.paths import as_store_io, exists, is_directory
from agent_memory.adapters.doctor.files import RepairLog
from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.adapters.git.git_repository import GitRepository, remove_stale_locks, stale_locks
from agent_memory.adapters.records.health_files import unrecorded_writes
from agent_memory.adapters.store.entry_files import entry_or_none, read_image
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, trouble
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error
from agent_memory.formats.frontmatter import split_note
from agent_memory.formats.yaml_scalars import NotReadable
from agent_memory.ports import Locks
from agent_memory.results import unwrap

_GIT = ".git"
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_SAID_CHARS = 160
_DETACHED = 1
"""How `git symbolic-ref --quiet` ends where HEAD is on no branch; any other status but 0 is damage."""
# Asked of a path that is never tracked, so that history and index are read, and fifty thousand files not looked at.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--", _GIT)


def check_repository(root: Path, environ: Mapping[str, str], *, has_notes: bool) -> Iterator[Finding]:
    """All of it. Nothing is changed, not even the index. No remote is no trouble; nor is no repository where there is
    nothing yet."""
    try:
        if owed := unwrap(unrecorded_writes(root)):
            count = f"{owed} write{'' if owed == 1 else 's'}"
            yield of.GIT_OWED.found("runs/owed.json", f"{count} not recorded by git yet; the next run records them")
    except Error as error:
        yield trouble(error, of.UNREADABLE_STORE)
    try:
        yield from _check(root, GitProcess(root, environ), has_notes)
    except Error as error:
        yield of.GIT_UNUSABLE.found(_GIT, str(error).rstrip("."))


def _check(root: Path, git: GitProcess, has_notes: bool) -> Iterator[Finding]:
    if not exists(f"{root}/{_GIT}"):
        if is_directory(str(root)):  # there is something to record
            git.run("--version")
        if has_notes:
            words = "There is no history, although storage.autoCommit is on; the next write begins one"
            yield of.GIT_ABSENT.found(_GIT, words)
        return
    where = GitRepository(git).directory()
    with as_store_io("look through", str(where)):
        locks = stale_locks(root, where)
    for path in locks:
        yield of.GIT_LOCKED.found(os.path.relpath(path, root), "A git that no longer runs left this lock behind")
    status = git.run(*_STATUS)
    unmerged = git.run("ls-files", "-z", "--unmerged") if status.ok else status
    head = git.run("symbolic-ref", "--quiet", "--short", "HEAD")
    if not unmerged.ok or head.status > _DETACHED:
        yield of.GIT_UNUSABLE.found(_GIT, _unreadable(head if unmerged.ok else unmerged))
        return
    unfinished = next((what for name, what in _UNFINISHED.items() if exists(f"{where}/{name}")), "")
    if unfinished:
        words = f"A {unfinished} was begun and not finished; finish or abort it with git"
        yield of.GIT_CONFLICTED.found(_GIT, words)
    # Each file has an entry for each side: `<mode> <object> <stage>`, a tab, the path.
    for name in dict.fromkeys(each.partition(b"\t")[2] for each in unmerged.stdout.split(b"\0") if each):
        words = "It is in conflict, and is not recorded until that is resolved with git"
        yield of.GIT_CONFLICTED.found(os.fsdecode(name), words)
    if not head.ok and not unfinished:
        words = "HEAD is on no branch, so what is recorded may be lost; `git switch main`, or another branch"
        yield of.GIT_DETACHED.found(_GIT, words)


def _unreadable(output: GitOutput) -> str:
    said = one_line(output.stderr, _SAID_CHARS) or f"status {output.status}"
    return f"Git cannot read the history ({said}); the next run mends it, or moves it aside and begins a new one"


# -- repairs ----------------------------------------------------------------------------------------------------------


def free_repository(git: GitProcess, locks: Locks, log: RepairLog) -> None:
    """Remove the locks that no git works behind."""
    try:
        directory = GitRepository(git).directory()
    except Error:
        return  # the examination tells
    with log.tolerating(), as_store_io("look through", str(directory)):
        if not (stale := stale_locks(git.root, directory)):
            return
        with locks.write() as held:
            unwrap(held)
            if remove_stale_locks(git.root, directory):
                names = [os.path.relpath(path, git.root) for path in stale]
                log.did += [f"{name}, a lock that no git worked behind, is removed" for name in names]


_LOOKED_BACK = 20
"""Commits of one file. The newest but one has the frontmatter, unless the loss went unnoticed through many edits."""


def restore_head(git: GitProcess, path: str) -> bool:
    """Whether the note (its path below the root) has its last recorded frontmatter again; the write lock is held."""
    image = read_image(str(git.root), path)
    block = None if image is None else _last_block(git, path)
    if image is None or block is None:
        return False
    data = _with_head(block, image.data.decode("utf-8", "replace")).encode()
    if entry_or_none(path, data, image.mtime_ns) is None:
        return False
    transactions = Transactions(str(git.root))
    transactions.recover()
    return transactions.commit((FileChange(path, FileState(image.data, image.mtime_ns), FileState(data)),))


def _last_block(git: GitProcess, path: str) -> str | None:
    for commit in git.run("log", f"--max-count={_LOOKED_BACK}", "--format=%H", "--", path).stdout.decode().split():
        text = git.run("show", f"{commit}:{path}").stdout.decode("utf-8", "replace")
        with suppress(NotReadable):
            if (block := split_note(text).block) is not None:
                return block
    return None


def _with_head(block: str, text: str) -> str:
    """The text below the whole frontmatter: the lines of it that the text still begins with are not doubled."""
    lines = [*block.splitlines(keepends=True), "---\n"]
    tails = ("".join(lines[at:]) for at in range(len(lines)))
    left = next((tail for tail in tails if text.startswith(tail)), "")
    return f"---\n{block}---\n{text[len(left) :] if left else chr(10) + text}"
