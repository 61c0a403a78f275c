"""Several files of a store changed as one: all of them, or none (P2, P5, P12). The caller holds the write lock.

What may fail for want of space comes first: the new bytes are written to `.transaction/`, then a journal with the bytes
that they replace. After that there are only renames and removals, new files before removals, so that what moves is never
nowhere. An error on the way is undone at once; after a crash the journal says how to undo, or that all was done already.
The transaction is over when its journal is gone; one that cannot be removed is marked: what a person does to the files from
then on is no half of it.

A file that somebody else changed meanwhile is never overwritten: before each step the file is compared with what the
change was decided from. (Between that comparison and the rename lie microseconds, not the time that an agent thinks.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import (
    TEMPORARY_PREFIX,
    create_file,
    fsync_directory,
    make_directories,
    replace_file,
    write_new_file,
)
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside, inside, open_regular, read_file, those_there
from agent_memory.adapters.store.entry_files import ARCHIVE, JOURNAL, MAX_FILE_BYTES, RUNS, TOPICS, TRANSACTION
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.errors import Error
from agent_memory.formats.footprint_json import OVER, Step, is_over, parse_journal, render_journal
from agent_memory.results import sealed

_JOURNALS = re.compile(re.escape(JOURNAL.rpartition("/")[2]))
_TEMPORARY = re.compile(re.escape(TEMPORARY_PREFIX) + ".*", re.DOTALL)
_STAGED = re.compile(rf"\d+\.new|{_TEMPORARY.pattern}", re.DOTALL)
_MAX_OWN_BYTES = 1 << 30
"""Of a journal or a footprint, which hold the bytes of many entries."""


class _At(Enum):
    BEFORE = auto()
    AFTER = auto()
    ELSEWHERE = auto()
    """Somebody else wrote here."""


class Transactions:
    """Changes sets of files under a real root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._directory = f"{root}/{TRANSACTION}"
        self._journal = f"{root}/{JOURNAL}"

    def unfinished(self) -> bool:
        """Whether a crash left a transaction half done, or another process is at one right now."""
        return os.path.lexists(self._journal)

    def recover(self) -> Result[None, Error]:
        """Undo a transaction that a crash left half done, or finish it where undoing would lose what came after it."""
        match sealed(inside(self._root, JOURNAL).bind(lambda path: read_file(path, _MAX_OWN_BYTES))):
            case Failure(error):
                return Failure(error)
            case Success(image):
                if image is None or is_over(image.data):
                    return self._clear()
                return parse_journal(image.data, self._journal).bind(self._recover).bind(lambda _: self._end())

    def commit(self, changes: Sequence[FileChange]) -> Result[bool, Error]:
        """True: all is durable. False, or an error: nothing is changed; with False because a file was no longer as it
        was when the changes were decided, so they are to be decided anew. ValueError where a file is changed more than once:
        the second change could not find it as it was before all of them."""
        wanted = [change for change in changes if hash_of(change.before) != hash_of(change.after)]
        # New files first: what moves is then in two places for a moment, and never in none.
        ordered = sorted(wanted, key=lambda change: change.after is None)
        if not ordered:
            return Success(True)
        paths: set[str] = set()
        for change in ordered:
            if change.path in paths:
                raise ValueError(f"{change.path} is changed more than once")
            paths.add(change.path)
            contained = inside(self._root, change.path)
            if isinstance(contained, Failure):
                return contained
        return self._prepare(ordered).bind(self._carry_out)

    def _prepare(self, changes: Sequence[FileChange]) -> Result[tuple[Step, ...], Error]:
        path = self._directory
        try:
            make_directories(self._directory)
            steps: list[Step] = []
            for number, change in enumerate(changes):
                staged = None
                if change.after is not None:
                    staged = f"{number}.new"
                    path = f"{self._directory}/{staged}"
                    write_new_file(path, change.after.data)  # its name is durable with that of the journal
                    if change.after.mtime_ns is not None:
                        os.utime(path, ns=(change.after.mtime_ns, change.after.mtime_ns))
                steps.append(Step(change.path, change.before, hash_of(change.after), staged))
            path = self._journal
            create_file(path, render_journal(tuple(steps)))
        except OSError as error:
            self._clear()  # if that fails too, the next transaction does it
            return Failure(store_io(error, "write", path))
        return Success(tuple(steps))

    def _carry_out(self, steps: tuple[Step, ...]) -> Result[bool, Error]:
        for number, step in enumerate(steps):
            where = self._where(step)
            if where != Success(_At.BEFORE):
                self._give_up(steps[:number])
                return where.map(lambda _: False)
            taken = self._take(step)
            if number + 1 == len(steps) or (step.staged and not steps[number + 1].staged):
                # What moves has its new name for certain before the old one goes.
                taken = taken.bind(lambda _: _flush(self._directories(steps)))
            if isinstance(taken, Failure):
                self._give_up(steps[: number + 1])
                return taken.map(lambda _: False)
        self._remove_empty(steps)
        self._end()  # should even the mark fail, recovery finds everything in place, unless somebody changes it before
        return Success(True)

    def _give_up(self, steps: Sequence[Step]) -> None:
        # An undo that fails leaves the journal, and with it the work to recovery: the next to come tries again.
        self._undo(steps).bind(lambda _: self._end())

    def _recover(self, steps: tuple[Step, ...]) -> Result[None, Error]:
        places: list[_At] = []
        for step in steps:
            match sealed(self._where(step)):
                case Failure(error):
                    return Failure(error)
                case Success(at):
                    places.append(at)
        if any(at is not _At.AFTER for at in places):
            mended = self._waiting(steps).bind(lambda waiting: self._mend(steps, places, waiting))
            if isinstance(mended, Failure):
                return mended
        self._remove_empty(steps)
        return self._sweep(steps)

    def _waiting(self, steps: Sequence[Step]) -> Result[frozenset[str], Error]:
        """The staged files that have not gone where they belong."""
        return those_there(self._directory, [step.staged for step in steps if step.staged]).map(frozenset)

    def _mend(self, steps: Sequence[Step], places: Sequence[_At], waiting: frozenset[str]) -> Result[None, Error]:
        elsewhere = {step.staged for step, at in zip(steps, places, strict=True) if at is _At.ELSEWHERE and step.staged}
        missing = {step.staged for step, at in zip(steps, places, strict=True) if at is _At.BEFORE and step.staged}
        # Where somebody wrote upon what we had written, its earlier bytes are only in the archive that belongs to it. Bytes
        # that are not in place and not staged either are those of an undo that was cut short.
        if elsewhere <= waiting or not missing <= waiting:
            return self._undo(steps)
        # Where somebody else took the name before our bytes had it, what was to go there has no other place than its old one.
        return self._finish(steps, places, removing=elsewhere.isdisjoint(waiting))

    def _where(self, step: Step) -> Result[_At, Error]:
        match sealed(inside(self._root, step.path).bind(lambda path: read_file(path, _max_bytes(step.path)))):
            case Failure(error):
                return Failure(error)
            case Success(image):
                current = None if image is None else content_hash(image.data)
                if current == hash_of(step.before):
                    return Success(_At.BEFORE)
                return Success(_At.AFTER if current == step.after_hash else _At.ELSEWHERE)

    def _take(self, step: Step) -> Result[None, Error]:
        target = f"{self._root}/{step.path}"
        try:
            if step.staged is None:
                os.unlink(target)
            else:
                make_directories(os.path.dirname(target))
                os.replace(f"{self._directory}/{step.staged}", target)
        except OSError as error:
            return Failure(store_io(error, "write", target))
        return Success(None)

    def _finish(self, steps: Sequence[Step], places: Sequence[_At], *, removing: bool) -> Result[None, Error]:
        for step, at in zip(steps, places, strict=True):
            if at is _At.BEFORE and (removing or step.staged):
                taken = self._take(step)
                if isinstance(taken, Failure):
                    return taken
        return _flush(self._directories(steps))

    def _directories(self, steps: Sequence[Step]) -> tuple[str, ...]:
        return tuple(sorted({os.path.dirname(f"{self._root}/{step.path}") for step in steps}))

    def _undo(self, steps: Sequence[Step]) -> Result[None, Error]:
        for step in reversed(steps):
            undone = self._undo_step(step)
            if isinstance(undone, Failure):
                return undone
        return Success(None)

    def _undo_step(self, step: Step) -> Result[None, Error]:
        match sealed(self._where(step)):
            case Failure(error):
                return Failure(error)
            case Success(at):
                target = f"{self._root}/{step.path}"
                try:
                    if at is _At.AFTER:
                        _restore(target, step.before)
                    if step.before is None:
                        with suppress(OSError):  # there is more in it, or it never came to be
                            os.rmdir(os.path.dirname(target))
                except OSError as error:
                    return Failure(store_io(error, "restore", target))
                return Success(None)

    def _remove_empty(self, steps: Sequence[Step]) -> None:
        """A directory of versions goes with the last of them."""
        for directory in {os.path.dirname(step.path) for step in steps if step.staged is None}:
            if directory.startswith(f"{ARCHIVE}/"):
                with suppress(OSError):  # there is more in it, or it is gone
                    os.rmdir(f"{self._root}/{directory}")

    def _sweep(self, steps: Sequence[Step]) -> Result[None, Error]:
        """Remove the temporary files that a crash left among the entries, where nobody else makes any."""
        for directory in self._directories([step for step in steps if step.path.startswith((TOPICS, ARCHIVE))]):
            swept = _remove_from(directory, _TEMPORARY)
            if isinstance(swept, Failure):
                return swept
        return Success(None)

    def _end(self) -> Result[None, Error]:
        """As `_clear`; a journal that stays is marked as over."""
        cleared = self._clear()
        if isinstance(cleared, Failure):
            opened = open_regular(self._journal, os.O_WRONLY | os.O_APPEND)
            opened.map(_mark_over)
        return cleared

    def _clear(self) -> Result[None, Error]:
        """Remove the journal, then what was staged."""
        match sealed(directory_inside(self._root, TRANSACTION)):
            case Failure(refused):
                return Failure(refused)
            case Success(directory):
                return _remove_from(directory, _JOURNALS).bind(lambda _: _remove_from(directory, _STAGED))


def _max_bytes(path: str) -> int:
    return _MAX_OWN_BYTES if path.startswith(f"{RUNS}/") else MAX_FILE_BYTES


def _flush(directories: Sequence[str]) -> Result[None, Error]:
    for directory in directories:
        try:
            fsync_directory(directory)
        except FileNotFoundError:
            continue  # an archive that is not there yet has nothing to flush
        except OSError as error:
            return Failure(store_io(error, "flush", directory))
    return Success(None)


def _mark_over(journal: int) -> None:
    with suppress(OSError):  # the disk takes nothing at all: whoever comes next finds the journal as it is
        try:
            os.write(journal, OVER)
            os.fsync(journal)
        finally:
            os.close(journal)


def _restore(target: str, before: FileState | None) -> None:
    directory = os.path.dirname(target)
    if before is None:
        os.unlink(target)
        fsync_directory(directory)
        return
    make_directories(directory)
    replace_file(target, before.data)
    if before.mtime_ns is not None:
        os.utime(target, ns=(before.mtime_ns, before.mtime_ns))


def _remove_from(directory: str, names: re.Pattern[str]) -> Result[None, Error]:
    path = directory
    try:
        found = [name for name in os.listdir(directory) if names.fullmatch(name)]
        for name in found:
            path = f"{directory}/{name}"
            os.unlink(path)
        if found:
            fsync_directory(directory)
    except FileNotFoundError:
        return Success(None)
    except OSError as error:
        return Failure(store_io(error, "remove", path))
    return Success(None)
