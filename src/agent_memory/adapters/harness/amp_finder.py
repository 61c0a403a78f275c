"""Past Amp threads: those that `amp threads list` names, and those that versions until early 2026 kept in files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.harness.amp import RunsAmp, is_thread_id, what_amp_said
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import AmpThread
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, StoreIo
from agent_memory.results import sealed

LIST_COMMAND = ("amp", "threads", "list", "--json")

_CHANGED_KEYS = ("updatedAt", "updated", "lastUpdated", "updated_at", "modified")
_CREATED_KEYS = ("createdAt", "created", "created_at")
_LISTS = ("threads", "items", "data", "results")
_LEAST_MS = 10**11
"""Smaller numbers are seconds."""


@frozen
class AmpFinder:
    """Asks `amp`, and looks into `threads_directory`. Without the command there are only the files."""

    run: RunsAmp
    threads_directory: str | None = None

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`. HistoryUnavailable: `amp` is there and does not tell, for instance before a login."""
        threads: dict[str, FoundSession] = {}
        for each in (*self._kept_locally(), *self._listed()):
            match sealed(each):
                case Failure():
                    yield each
                case Success(found):
                    known = threads.get(found.session_id)
                    if known is None or known.changed_at_ms <= found.changed_at_ms:
                        threads[found.session_id] = found
        for found in threads.values():
            if since_ms is None or found.changed_at_ms >= since_ms:
                yield Success(found)

    def _kept_locally(self) -> Iterator[Result[FoundSession, Error]]:
        directory = self.threads_directory
        if directory is None:
            return
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    thread_id, ending = os.path.splitext(entry.name)
                    if ending == ".json" and is_thread_id(thread_id) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        changed_at_ms = status.st_mtime_ns // 1_000_000
                        yield Success(FoundSession(Harness.AMP, AmpThread(thread_id), changed_at_ms, status.st_size))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            yield Failure(store_io(error, "list", directory))

    def _listed(self) -> Iterator[Result[FoundSession, Error]]:
        match sealed(self.run(LIST_COMMAND)):
            case Failure(StoreIo(errno_name="ENOENT" | "EACCES" | "ENOTDIR")):
                return  # there is no amp here
            case Failure(error):
                yield Failure(HistoryUnavailable("of Amp", f"amp could not be started: {error.reason}"))
            case Success(finished):
                threads = None if finished.timed_out or finished.exit_status else _threads_in(finished.stdout)
                if threads is None:
                    yield Failure(HistoryUnavailable("of Amp", f"{' '.join(LIST_COMMAND)}: {what_amp_said(finished)}"))
                else:
                    yield from map(Success, threads)


def _threads_in(printed: bytes) -> list[FoundSession] | None:
    """The threads in a list, however it is wrapped; None for what is no list of them."""
    try:
        value = json.loads(printed.decode("utf-8-sig", "replace") or "[]")
    except (ValueError, RecursionError):
        return None
    if is_object(value):
        value = next((value[key] for key in _LISTS if is_list(value.get(key))), None)
    if not is_list(value):
        return None
    return [found for each in value if is_object(each) and (found := _thread(each)) is not None]


def _thread(value: Mapping[str, object]) -> FoundSession | None:
    thread_id = next((text for key in ("id", "threadId", "threadID") if isinstance(text := value.get(key), str)), "")
    if not is_thread_id(thread_id):
        return None
    started_at_ms, changed_at_ms = _instant(value, _CREATED_KEYS), _instant(value, _CHANGED_KEYS)
    return FoundSession(
        harness=Harness.AMP,
        retrieval=AmpThread(thread_id),
        changed_at_ms=changed_at_ms or started_at_ms or 0,
        started_at_ms=started_at_ms,
        ended_at_ms=changed_at_ms,
    )


def _instant(value: Mapping[str, object], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and (at_ms := ms_of(found)) is not None:
            return at_ms
        if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 10**14:
            return int(found) if found >= _LEAST_MS else int(found * 1000)
    return None
