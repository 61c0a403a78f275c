"""The usage ledger on disk: `usage/<host>.jsonl`, one file a host, so that stores merge without conflicts (P7).

An append is one `write` to a file in append mode, under a shared lock on that file; compaction takes the lock exclusively
and replaces the file, so that no append can go to a file that is no longer there. Appends are not fsynced: a read that a
power cut forgets costs nothing, and a read must not cost a disk flush.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.appending import line_of_its_own
from agent_memory.adapters.disk.durable import FILE_MODE, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.locks import lock_within, release
from agent_memory.adapters.disk.paths import directory_inside, open_regular, real_root
from agent_memory.domain.entry import Usage
from agent_memory.domain.text.slug import slug_of
from agent_memory.domain.usage import (
    Base,
    DayReads,
    LedgerRecord,
    Read,
    Total,
    base_of,
    count_reads,
    day_reads,
    listed_reads,
    reads_and_bases,
    totals_of,
)
from agent_memory.errors import Busy, EntryInvalid, Error, StoreIo
from agent_memory.formats.ledger_lines import MAX_LINE_BYTES, parse_ledger_line, problems_of, render_ledger_line
from agent_memory.results import sealed

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT_SECONDS = 30.0
_ENDING = ".jsonl"


@frozen
class LedgerSurvey:
    """What all ledgers say, and how many of their lines could not be understood (a power cut leaves one at most)."""

    totals: Mapping[str, Usage]
    damaged_lines: int


class UsageLedgerFiles:
    """`UsageLedger` in the directory `usage` of a root."""

    def __init__(self, root: Path | str, host: str | None = None) -> None:
        self._root = real_root(root)
        self._file_name = slug_of((host or os.uname().nodename).lower()) + _ENDING

    def append(self, id: str, at_ms: int, reader: str) -> Result[None, Error]:
        """See the port."""
        return self._record(Read(id, at_ms, reader))

    def adopt(self, id: str, usage: Usage) -> Result[None, Error]:
        """See the port."""
        base = base_of(id, usage)
        return self.totals().bind(lambda totals: Success(None) if id in totals else self._record(base))

    def totals(self) -> Result[Mapping[str, Usage], Error]:
        """See the port. A damaged line hides no other."""
        return self.survey().map(lambda survey: survey.totals)

    def day_reads(self) -> Result[tuple[DayReads, ...], Error]:
        """See the port."""
        return self._ledgers().map(lambda ledgers: day_reads(record for each in ledgers for record in each.records))

    def survey(self) -> Result[LedgerSurvey, Error]:
        """The totals over all hosts, and the number of damaged lines."""
        match sealed(self._ledgers()):
            case Failure(error):
                return Failure(error)
            case Success(ledgers):
                totals = totals_of(record for ledger in ledgers for record in ledger.records)
                return Success(LedgerSurvey(totals, sum(len(ledger.damaged) for ledger in ledgers)))

    def compact(self) -> Result[int, Error]:
        """Leave one total (and one base) an id in this host's file, and one line a reader and day; how many lines fewer it has.

        Crash-safe, and exact while others append. Damaged lines are kept as they are.
        """
        match sealed(self._directory()):
            case Failure(refused):
                return Failure(refused)
            case Success(directory):
                path = f"{directory}/{self._file_name}"
                with _current(path, os.O_RDWR, fcntl.LOCK_EX) as opened:
                    match sealed(opened):
                        case Failure(StoreIo(errno_name="ENOENT")):
                            return Success(0)
                        case Failure(error):
                            return Failure(error)
                        case Success(_):
                            return _compact(path)

    def _directory(self) -> Result[str, Error]:
        return directory_inside(self._root, "usage")

    def _ledgers(self) -> Result[tuple[_Ledger, ...], Error]:
        return self._directory().bind(_ledger_paths).bind(_read_ledgers)

    def _record(self, record: LedgerRecord) -> Result[None, Error]:
        if problems := problems_of(record):
            return Failure(EntryInvalid(problems))
        return self._directory().bind(_made).bind(lambda there: self._append(there, render_ledger_line(record)))

    def _append(self, directory: str, line: bytes) -> Result[None, Error]:
        path = f"{directory}/{self._file_name}"
        with _current(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, fcntl.LOCK_SH) as opened:
            match sealed(opened):
                case Failure(error):
                    return Failure(error)
                case Success(descriptor):
                    return _append(descriptor, line, path)


@frozen
class _Ledger:
    records: tuple[Total | Base | DayReads, ...]
    """What its lines come to: at most one of each an id, or a reader and day."""
    damaged: tuple[bytes, ...]
    line_count: int


def _made(directory: str) -> Result[str, Error]:
    try:
        make_directories(directory)
    except OSError as error:
        return Failure(store_io(error, "make", directory))
    return Success(directory)


def _ledger_paths(directory: str) -> Result[tuple[str, ...], Error]:
    names = listed_names(directory, lambda name: name.endswith(_ENDING) and not name.startswith("."))
    return names.map(lambda found: tuple(f"{directory}/{name}" for name in found))


def _read_ledgers(paths: Sequence[str]) -> Result[tuple[_Ledger, ...], Error]:
    ledgers: list[_Ledger] = []
    for path in paths:
        match sealed(open_regular(path, os.O_RDONLY).bind(partial(_read_ledger, path))):
            case Failure(error):
                return Failure(error)
            case Success(ledger):
                ledgers.append(ledger)
    return Success(tuple(ledgers))


def _read_ledger(path: str, descriptor: int) -> Result[_Ledger, Error]:
    """What a ledger says; closes the descriptor. A line over the limit counts once for each piece of that size."""
    damaged: list[bytes] = []
    counts: dict[tuple[int, str], int] = {}
    line_count = 0

    def records(file: BinaryIO) -> Iterator[LedgerRecord]:
        nonlocal line_count
        while line := file.readline(MAX_LINE_BYTES):
            line_count += 1
            if (record := parse_ledger_line(line)) is not None:
                count_reads(counts, record)
                yield record
            elif line.strip():
                damaged.append(line)

    try:
        with open(descriptor, "rb") as file:
            read, based = reads_and_bases(records(file))
    except OSError as error:
        return Failure(store_io(error, "read", path))
    totals = (Total(id, each.count, each.last_at_ms) for id, each in read.items())
    bases = (Base(id, each.count, each.last_at_ms) for id, each in based.items())
    return Success(_Ledger((*totals, *bases, *listed_reads(counts)), tuple(damaged), line_count))


def _append(descriptor: int, line: bytes, path: str) -> Result[None, Error]:
    try:
        os.fchmod(descriptor, FILE_MODE)
        whole = line_of_its_own(descriptor, line)
        written = os.write(descriptor, whole)
        if written < len(whole):
            _take_back(descriptor, written)
            return Failure(StoreIo(path, "append to", "ENOSPC", "only a part of the line was written"))
    except OSError as error:
        return Failure(store_io(error, "append to", path))
    return Success(None)


def _take_back(descriptor: int, written: int) -> None:
    """The part of a line that was written, while nobody else is at the file or has written after it: else it stays, and
    doctor tells of it."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, end - written)


def _compact(path: str) -> Result[int, Error]:
    match sealed(open_regular(path, os.O_RDONLY).bind(partial(_read_ledger, path))):
        case Failure(error):
            return Failure(error)
        case Success(ledger):
            saved = ledger.line_count - len(ledger.records) - len(ledger.damaged)
            if saved <= 0:
                return Success(0)
            lines = b"".join([*map(render_ledger_line, ledger.records), *ledger.damaged])
            try:
                replace_file(path, lines)
            except OSError as error:
                return Failure(store_io(error, "compact", path))
            return Success(saved)


@contextmanager
def _current(path: str, flags: int, kind: int) -> Generator[Result[int, Error], None, None]:
    """The locked file that bears this name, even if a compaction replaced it while we waited."""
    while True:
        opened = open_regular(path, flags)
        if isinstance(opened, Failure):
            yield opened
            return
        descriptor = opened.unwrap()
        try:
            locked = _locked(descriptor, kind, path)
            if isinstance(locked, Failure) or _bears_the_name(descriptor, path):
                yield locked
                return
        finally:
            release(descriptor)


def _locked(descriptor: int, kind: int, path: str) -> Result[int, Error]:
    try:
        return Success(descriptor) if lock_within(descriptor, kind, _LIMIT_SECONDS) else Failure(Busy(path))
    except OSError as error:
        return Failure(store_io(error, "lock", path))


def _bears_the_name(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:  # gone, or its directory is: the next round finds out
        return False
