"""The usage ledger: records of reads and their totals, and their lines, one file for each host."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import astuple, field, frozen

from agent_memory.errors import Busy, EntryInvalid, StoreIo
from agent_memory.files.durable import FILE_MODE, line_of_its_own, make_directories, replace_file
from agent_memory.files.locks import lock_within, release
from agent_memory.files.paths import as_store_io, directory_in, names_in, open_checked, real_root
from agent_memory.note.note import Usage
from agent_memory.results import as_result
from agent_memory.text.ids import ID_PATTERN, slug_of
from agent_memory.text.instants import DAY_MS, latest
from agent_memory.text.plain_text import one_line

if TYPE_CHECKING:
    from pathlib import Path

# -- records and their totals -------------------------------------------------------------------------------------------


@frozen
class Read:
    """One read of a note, by a harness or `manual`."""

    id: str
    at_ms: int
    reader: str


@frozen
class Total:
    """Many reads of a note, added up by a compaction."""

    id: str
    count: int
    last_at_ms: int | None


@frozen
class DayReads:
    """How often a reader read on a UTC day, in reads that a compaction added up: a `Total` no longer tells by whom."""

    day: int
    reader: str
    count: int


LedgerRecord = Read | Total | DayReads


@frozen
class LedgerCounts:
    """The totals of records added one at a time, in any order."""

    totals: dict[str, Usage] = field(factory=dict[str, Usage])
    """The reads of each id, in the order in which they first occur."""
    by_day: Counter[tuple[int, str]] = field(factory=Counter[tuple[int, str]])
    """Reads by day and reader. Reads that were compacted before this was kept are missing."""

    def add(self, record: LedgerRecord) -> None:
        match record:
            case Read(id, at_ms, reader):
                self.totals[id] = _sum(self.totals.get(id), Usage(1, at_ms))
                self.by_day[at_ms // DAY_MS, reader] += 1
            case Total(id, count, last_at_ms):
                self.totals[id] = _sum(self.totals.get(id), Usage(count, last_at_ms))
            case DayReads(day, reader, count):  # of reads that are part of a total
                self.by_day[day, reader] += count

    @property
    def day_reads(self) -> tuple[DayReads, ...]:
        """Returns how often each reader read on each day, by day and reader."""
        return tuple(DayReads(day, reader, count) for (day, reader), count in sorted(self.by_day.items()))

    @property
    def records(self) -> tuple[Total | DayReads, ...]:
        """Returns the smallest set of records with the same totals."""
        totals = (Total(id, each.count, each.last_at_ms) for id, each in self.totals.items())
        return (*totals, *self.day_reads)


def counted(records: Iterable[LedgerRecord]) -> LedgerCounts:
    counts = LedgerCounts()
    for record in records:
        counts.add(record)
    return counts


def _sum(one: Usage | None, other: Usage) -> Usage:
    return other if one is None else Usage(one.count + other.count, latest(one.last_at_ms, other.last_at_ms))


# -- lines --------------------------------------------------------------------------------------------------------------


MAX_LINE_BYTES = 4096
"""With its `\\n`: one `write` of this size to a file in append mode is never interleaved with another."""

_ID, _BY = f'"{ID_PATTERN}"', '"[a-z0-9][a-z0-9._-]{0,63}"'
_COUNT, _DAY = r"(?:0|[1-9]\d{0,14})", r"(?:0|[1-9]\d{0,7})"
_SHAPES: Mapping[type[LedgerRecord], Mapping[str, str]] = {
    Read: {"id": _ID, "at": _COUNT, "by": _BY},
    Total: {"id": _ID, "total": _COUNT, "last": f"(?:{_COUNT}|null)"},
    DayReads: {"day": _DAY, "by": _BY, "reads": _COUNT},
}
"""The members of each kind of record, in the order of its attributes."""
_LINES = {
    kind: r"\{" + ",".join(f'"{key}":{value}' for key, value in shape.items()) + r"\}\n?"
    for kind, shape in _SHAPES.items()
}


def render_ledger_line(record: LedgerRecord) -> bytes:
    """Returns one line with its `\\n`; shorter than 300 bytes for a record that can be parsed again."""
    line = dict(zip(_SHAPES[type(record)], astuple(record), strict=True))
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def parse_ledger_line(line: bytes) -> LedgerRecord | None:
    """Returns the record; None for a cut or foreign line."""
    text = line.decode("ascii", "replace")
    kind = next((kind for kind, pattern in _LINES.items() if re.fullmatch(pattern, text, re.ASCII)), None)
    return None if kind is None else kind(*json.loads(text).values())


# -- the usage ledger on disk -----------------------------------------------------------------------------------------


_ENDING = ".jsonl"


class UsageLedger:
    """Keeps the reads of notes in the directory `usage` of a root, append-only and exact under concurrency."""

    def __init__(self, root: Path | str, host: str | None = None) -> None:
        self._root = real_root(root)
        self._file_name = slug_of((host or os.uname().nodename).lower()) + _ENDING

    @as_result
    def append(self, id: str, at_ms: int, reader: str) -> None:
        """Records one read by `reader` (a harness or `manual`)."""
        self._record(Read(id, at_ms, reader))

    @as_result
    def totals(self) -> Mapping[str, Usage]:
        """Returns the reads of each id, over all hosts."""
        return self._counts().totals

    @as_result
    def day_reads(self) -> tuple[DayReads, ...]:
        """Returns how often each reader read on each UTC day, over all hosts, sorted by day and reader."""
        return self._counts().day_reads

    @as_result
    def compact(self) -> int:
        """Reduces this host's file to one total for each id, and one line for each reader and day;
        returns how many lines fewer it has. Crash-safe, and exact while others append. Damaged lines are kept."""
        path = f"{self._directory()}/{self._file_name}"
        try:
            with _current(path, os.O_RDWR, fcntl.LOCK_EX):
                counts = LedgerCounts()
                line_count, damaged = _read_ledger(path, counts)
                saved = line_count - len(counts.records) - len(damaged)
                if saved > 0:
                    with as_store_io("compact", path):
                        replace_file(path, b"".join([*map(render_ledger_line, counts.records), *damaged]))
                return max(saved, 0)
        except StoreIo as error:
            if error.errno_name == "ENOENT" and error.operation == "open":
                return 0
            raise

    def _directory(self) -> str:
        return directory_in(self._root, "usage")

    def _counts(self) -> LedgerCounts:
        """Returns the totals of all ledgers. A damaged line (a power cut leaves one at most) hides no other."""
        directory = self._directory()
        counts = LedgerCounts()
        for name in names_in(directory, lambda name: name.endswith(_ENDING) and not name.startswith(".")):
            _read_ledger(f"{directory}/{name}", counts)
        return counts

    def _record(self, record: LedgerRecord) -> None:
        line = render_ledger_line(record)
        if parse_ledger_line(line) is None:
            raise EntryInvalid((f"{one_line(line.decode(), 200)} is not a line of the usage ledger",))
        directory = self._directory()
        with as_store_io("make", directory):
            make_directories(directory)
        path = f"{directory}/{self._file_name}"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        with _current(path, flags, fcntl.LOCK_SH) as descriptor, as_store_io("append to", path):
            os.fchmod(descriptor, FILE_MODE)
            whole = line_of_its_own(descriptor, line)
            written = os.write(descriptor, whole)
            if written < len(whole):
                # A partly written line is removed if nobody else holds the file or has appended; otherwise doctor
                # reports it.
                with suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    end = os.lseek(descriptor, 0, os.SEEK_CUR)
                    if os.fstat(descriptor).st_size == end:
                        os.ftruncate(descriptor, end - written)
                raise StoreIo(path, "append to", "ENOSPC", "only a part of the line was written")


def _read_ledger(path: str, counts: LedgerCounts) -> tuple[int, list[bytes]]:
    """Counts the records; returns the number of lines, and the damaged ones. A longer line counts once for each limit."""
    damaged: list[bytes] = []
    line_count = 0
    descriptor = open_checked(path, os.O_RDONLY)
    with as_store_io("read", path), open(descriptor, "rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            line_count += 1
            if (record := parse_ledger_line(line)) is not None:
                counts.add(record)
            elif line.strip():
                damaged.append(line)
    return line_count, damaged


@contextmanager
def _current(path: str, flags: int, kind: int) -> Generator[int, None, None]:
    """Yields the locked file with this name, even if a compaction replaced it while we waited."""
    while True:
        descriptor = open_checked(path, flags)
        try:
            with as_store_io("lock", path):
                if not lock_within(descriptor, kind, 30.0):
                    raise Busy(path)
            is_current = False
            with suppress(OSError):  # gone, or its directory is: the next round finds out
                is_current = os.path.samestat(os.fstat(descriptor), os.lstat(path))
            if is_current:
                yield descriptor
                return
        finally:
            release(descriptor)
