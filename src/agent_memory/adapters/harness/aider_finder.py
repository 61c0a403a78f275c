"""Past runs of aider, from the chat histories in directories that are known: aider keeps no list of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.harness.aider import CHAT_FILE, TRACKED, AiderChats
from agent_memory.adapters.harness.aider_session import Run
from agent_memory.adapters.surroundings.git_index import is_tracked
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import SessionFile
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, TranscriptRefused
from agent_memory.results import sealed


@frozen
class AiderFinder:
    """Looks for a chat history in each of `directories`, and where `$AIDER_CHAT_HISTORY_FILE` says; in the directories of
    projects also above them, as far as the home."""

    chats: AiderChats
    directories: tuple[str, ...]
    project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`. A run that another one follows in its file changed last before that one began."""
        named = (self.chats.named_file,) if self.chats.named_file is not None else ()
        paths = dict.fromkeys((*named, *(os.path.join(each, CHAT_FILE) for each in self.directories)))
        for directory in self.project_directories():
            match sealed(directory):
                case Failure() as failure:
                    yield failure
                case Success(project):
                    try:
                        paths.update(dict.fromkeys(filter(None, [self.chats.above(project)])))
                    except OSError as error:
                        yield Failure(store_io(error, "examine", project))
        for path in paths:
            try:
                status = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError) as error:  # ValueError: a NUL in a path
                if isinstance(error, OSError):
                    yield Failure(store_io(error, "examine", path))
                continue
            changed_at_ms = status.st_mtime_ns // 1_000_000
            if stat.S_ISREG(status.st_mode) and (since_ms is None or changed_at_ms >= since_ms):
                yield from self._found_in(path, changed_at_ms, since_ms)

    def _found_in(self, path: str, changed_at_ms: int, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        match sealed(self.chats.runs(path)):
            case Success(runs) if runs and is_tracked(path):
                yield Failure(TranscriptRefused(path, TRACKED))
            case Failure(error):
                yield Failure(error)
            case Success(runs):
                for run, last_at_ms in zip(runs, _last_instants(runs, changed_at_ms), strict=True):
                    if since_ms is None or last_at_ms >= since_ms:
                        yield Success(_session(path, run, last_at_ms))


def _last_instants(runs: Sequence[Run], changed_at_ms: int) -> list[int]:
    before_next = [after.started_at_ms or changed_at_ms for _, after in pairwise(runs)]
    return [*before_next, changed_at_ms] if runs else []


def _session(path: str, run: Run, last_at_ms: int) -> FoundSession:
    return FoundSession(
        Harness.AIDER,
        SessionFile("aider-session", run.session_id, path),
        last_at_ms,
        started_at_ms=run.started_at_ms,
        ended_at_ms=run.started_at_ms,
        cwd=os.path.dirname(path),
    )
