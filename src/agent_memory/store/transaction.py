"""Changes several files of a store as one: all of them, or none (P2, P5, P12). The caller holds the write lock.

Steps that need space come first: the new bytes are written to `.transaction/`, then a journal with the bytes that they
replace. After that there are only renames and removals, new files before removals, so that a moved note is never
missing. An error on the way is undone at once; after a crash the journal says how to undo, or that all was done. The
transaction ends when its journal is removed, or marked if it cannot be: later edits by a person are not part of it.

A file that somebody else changed meanwhile is never overwritten: before each step it is compared with the state on
which the change is based. (Between that comparison and the rename are microseconds, not an agent's thinking time.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import TypeVar

from agent_memory.errors import Error, PathRefused, StoreIo
from agent_memory.files.durable import (
    TEMPORARY_PREFIX,
    create_file,
    fsync_directory,
    make_directories,
    replace_file,
    write_new_file,
)
from agent_memory.files.locks import Locks
from agent_memory.files.paths import as_store_io, directory_in, exists, open_checked, path_in, read_image, store_io
from agent_memory.rules.change import FileChange, FileState, hash_of
from agent_memory.store import note_files
from agent_memory.store.bookkeeping import OVER, Step, parse_journal, render_journal
from agent_memory.store.note_files import ARCHIVE, JOURNAL, MAX_FILE_BYTES, RUNS, TOPICS, TRANSACTION
from agent_memory.text.ids import content_hash

T = TypeVar("T")

_JOURNALS = re.compile(re.escape(JOURNAL.rpartition("/")[2]))
_TEMPORARY = re.compile(re.escape(TEMPORARY_PREFIX) + ".*", re.DOTALL)
_STAGED = re.compile(rf"\d+\.new|{_TEMPORARY.pattern}", re.DOTALL)
_MAX_OWN_BYTES = 1 << 30
"""The limit of a journal or a footprint, which hold the bytes of many notes."""


def change_files(root: str, locks: Locks, decide: Callable[[], tuple[Sequence[FileChange], T]], given_up: Error) -> T:
    """Applies the decided changes as one transaction under the write lock, or none; returns the decision's other value."""
    with locks.write():
        transactions = Transactions(root)
        transactions.recover()
        for _ in range(5):  # somebody may be editing the same files
            changes, told = decide()
            if transactions.commit(changes):
                return told
        raise given_up


def state_of(root: str, path: str) -> FileState | None:
    """Returns what a file under a real root holds, and its time; None if there is none."""
    image = note_files.read_image(root, path)
    return None if image is None else FileState(image.data, image.mtime_ns)


class _At(Enum):
    BEFORE = auto()
    AFTER = auto()
    ELSEWHERE = auto()
    """Somebody else wrote to it."""


class Transactions:
    """Changes sets of files under a real root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._directory = f"{root}/{TRANSACTION}"
        self._journal = f"{root}/{JOURNAL}"

    def recover(self) -> None:
        """Undoes a transaction that a crash interrupted, or finishes it if undoing would lose later changes."""
        image = read_image(path_in(self._root, JOURNAL), _MAX_OWN_BYTES)
        if image is None or image.data.endswith(OVER):
            self._clear()
            return
        steps = parse_journal(image.data, self._journal)
        places = [self._where(step) for step in steps]
        if any(at is not _At.AFTER for at in places):
            self._mend(steps, places)
        self._remove_empty(steps)
        # A crash leaves temporary files among the notes, where nobody else creates any.
        for directory in self._directories([step for step in steps if step.path.startswith((TOPICS, ARCHIVE))]):
            _remove_from(directory, _TEMPORARY)
        self._end()

    def commit(self, changes: Sequence[FileChange]) -> bool:
        """Returns True once all is durable, and False, with nothing changed, if a file is no longer as it was when the
        changes were decided. An error also leaves nothing changed. Raises ValueError if a file is changed twice: the
        second change could not find its state from before."""
        wanted = [change for change in changes if hash_of(change.before) != hash_of(change.after)]
        # New files first: what moves is briefly in two places, and never in none.
        ordered = sorted(wanted, key=lambda change: change.after is None)
        if not ordered:
            return True
        paths: set[str] = set()
        for change in ordered:
            if change.path in paths:
                raise ValueError(f"{change.path} is changed more than once")
            paths.add(change.path)
            path_in(self._root, change.path)
        return self._carry_out(self._prepare(ordered))

    def _prepare(self, changes: Sequence[FileChange]) -> tuple[Step, ...]:
        """Returns the steps, once the new bytes and the journal are on disk."""
        try:
            with as_store_io("write", self._directory):
                make_directories(self._directory)
            steps: list[Step] = []
            for number, change in enumerate(changes):
                staged = None if change.after is None else f"{number}.new"
                if change.after is not None:
                    path = f"{self._directory}/{staged}"
                    with as_store_io("write", path):
                        write_new_file(path, change.after.data)  # its name becomes durable with the journal's
                        if change.after.mtime_ns is not None:
                            os.utime(path, ns=(change.after.mtime_ns, change.after.mtime_ns))
                steps.append(Step(change.path, change.before, hash_of(change.after), staged))
            with as_store_io("write", self._journal):
                create_file(self._journal, render_journal(tuple(steps)))
        except StoreIo:
            with suppress(PathRefused, StoreIo):  # the next transaction does it
                self._clear()
            raise
        return tuple(steps)

    def _carry_out(self, steps: tuple[Step, ...]) -> bool:
        taken = 0
        try:
            for number, step in enumerate(steps):
                if self._where(step) is not _At.BEFORE:
                    self._give_up(steps[:number])
                    return False
                taken = number + 1
                self._take(step)
                if number + 1 == len(steps) or (step.staged and not steps[number + 1].staged):
                    # What moves has its new name durably before the old one goes.
                    _flush(self._directories(steps))
        except (PathRefused, StoreIo):
            self._give_up(steps[:taken])
            raise
        self._remove_empty(steps)
        with suppress(PathRefused, StoreIo):
            self._end()  # if even the mark fails, recovery finds everything in place, unless somebody changes it before
        return True

    def _give_up(self, steps: Sequence[Step]) -> None:
        # A failed undo leaves the journal, so that the next process recovers.
        with suppress(PathRefused, StoreIo):
            self._undo(steps)
            self._end()

    def _mend(self, steps: Sequence[Step], places: Sequence[_At]) -> None:
        """Undoes what was not finished, or finishes it."""
        waiting = {step.staged for step in steps if step.staged and exists(f"{self._directory}/{step.staged}")}
        elsewhere = {step.staged for step, at in zip(steps, places, strict=True) if at is _At.ELSEWHERE and step.staged}
        missing = {step.staged for step, at in zip(steps, places, strict=True) if at is _At.BEFORE and step.staged}
        # If somebody edited what we had written, its earlier bytes are only in the matching archive file. Bytes neither
        # in place nor staged are those of an interrupted undo.
        if elsewhere <= waiting or not missing <= waiting:
            self._undo(steps)
            return
        # If somebody took the name first, the only other place for our bytes is the old one.
        is_removing = elsewhere.isdisjoint(waiting)
        for step, at in zip(steps, places, strict=True):
            if at is _At.BEFORE and (is_removing or step.staged):
                self._take(step)
        _flush(self._directories(steps))

    def _where(self, step: Step) -> _At:
        image = read_image(
            path_in(self._root, step.path), _MAX_OWN_BYTES if step.path.startswith(f"{RUNS}/") else MAX_FILE_BYTES
        )
        current = None if image is None else content_hash(image.data)
        if current == hash_of(step.before):
            return _At.BEFORE
        return _At.AFTER if current == step.after_hash else _At.ELSEWHERE

    def _take(self, step: Step) -> None:
        target = f"{self._root}/{step.path}"
        with as_store_io("write", target):
            if step.staged is None:
                os.unlink(target)
            else:
                make_directories(os.path.dirname(target))
                os.replace(f"{self._directory}/{step.staged}", target)

    def _directories(self, steps: Sequence[Step]) -> tuple[str, ...]:
        return tuple(sorted({os.path.dirname(f"{self._root}/{step.path}") for step in steps}))

    def _undo(self, steps: Sequence[Step]) -> None:
        for step in reversed(steps):
            at, before, target = self._where(step), step.before, f"{self._root}/{step.path}"
            directory = os.path.dirname(target)
            with as_store_io("restore", target):
                if before is None:
                    if at is _At.AFTER:
                        os.unlink(target)
                        fsync_directory(directory)
                    with suppress(OSError):  # not empty, or never created
                        os.rmdir(directory)
                elif at is _At.AFTER:
                    make_directories(directory)
                    replace_file(target, before.data)
                    if before.mtime_ns is not None:
                        os.utime(target, ns=(before.mtime_ns, before.mtime_ns))

    def _remove_empty(self, steps: Sequence[Step]) -> None:
        """Removes directories of versions with their last version."""
        for directory in {os.path.dirname(step.path) for step in steps if step.staged is None}:
            if directory.startswith(f"{ARCHIVE}/"):
                with suppress(OSError):  # not empty, or gone
                    os.rmdir(f"{self._root}/{directory}")

    def _end(self) -> None:
        """Like `_clear`, but marks a journal that cannot be removed."""
        try:
            self._clear()
        except (PathRefused, StoreIo):
            with suppress(PathRefused, StoreIo, OSError):  # the disk refuses every write: it stays
                journal = open_checked(self._journal, os.O_WRONLY | os.O_APPEND)
                try:
                    os.write(journal, OVER)
                    os.fsync(journal)
                finally:
                    os.close(journal)
            raise

    def _clear(self) -> None:
        directory = directory_in(self._root, TRANSACTION)
        _remove_from(directory, _JOURNALS)
        _remove_from(directory, _STAGED)


def _flush(directories: Sequence[str]) -> None:
    for directory in directories:
        # A missing archive has nothing to flush.
        with as_store_io("flush", directory), suppress(FileNotFoundError):
            fsync_directory(directory)


def _remove_from(directory: str, names: re.Pattern[str]) -> None:
    path = directory
    try:
        found = [name for name in os.listdir(directory) if names.fullmatch(name)]
        for name in found:
            path = f"{directory}/{name}"
            os.unlink(path)
        if found:
            fsync_directory(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise store_io(error, "remove", path) from error
