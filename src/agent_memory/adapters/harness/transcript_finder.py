"""Past sessions of the harnesses that keep each in a file of its own."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.harness.transcript_roots import TranscriptRoots
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

Identifies = Callable[[str, tuple[str, ...]], "str | None"]
"""The id of the session in a file, by its path and by its names below the root; None for what is no session of a
person's: another file, a sub-agent's transcript."""


@frozen
class TranscriptFinder:
    """Looks for files in `roots`, at most `max_depth` directories deep; linked files and directories are passed over.

    Of a session that is in several files (it was resumed in another directory, or copied) each counts.
    """

    harness: Harness
    roots: TranscriptRoots
    identify: Identifies
    max_depth: int
    shares_record_ids: bool = False
    in_one_file: bool = False
    """Reading a session opens no other file."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`."""
        listed: set[str] = set()  # a root may be another's by a link
        for root in self.roots.roots:
            for each in _files_below(root, (), self.max_depth):
                if isinstance(each, Failure):
                    yield each
                    continue
                file = each.unwrap()
                found = self._found(file, since_ms)
                if found is not None and file.looks not in listed:
                    listed.add(file.looks)
                    yield Success(found)

    def _found(self, file: _File, since_ms: int | None) -> FoundSession | None:
        if since_ms is not None and file.changed_at_ms < since_ms:
            return None
        session_id = self.identify(file.path, file.names)
        retrieval = None if session_id is None else retrieval_of(self.harness, session_id, file.path)
        if retrieval is None:
            return None
        return FoundSession(
            self.harness,
            retrieval,
            file.changed_at_ms,
            file.size_bytes,
            shares_record_ids=self.shares_record_ids,
            looks=file.looks if self.in_one_file else "",
        )


@frozen
class _File:
    path: str
    names: tuple[str, ...]
    size_bytes: int
    changed_at_ms: int
    looks: str


def _files_below(directory: str, above: tuple[str, ...], depth: int) -> Iterator[Result[_File, Error]]:
    try:
        with os.scandir(directory) as entries:
            names = sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return  # the harness was never used here, or took the directory away meanwhile
    except OSError as error:
        yield Failure(store_io(error, "list", directory))
        return
    for name in names:
        path = f"{directory}/{name}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Failure(store_io(error, "examine", path))
            continue
        if stat.S_ISDIR(status.st_mode) and depth > 0:
            yield from _files_below(path, (*above, name), depth - 1)
        elif stat.S_ISREG(status.st_mode):
            looks = f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"
            yield Success(_File(path, (*above, name), status.st_size, status.st_mtime_ns // 1_000_000, looks))
