"""Where the sessions were that the inbox knows of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from returns.result import Failure, Result, Success

from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, InboxEntryInvalid

ReadsEntry = Callable[[str], Result[InboxEntry | None, Error]]


def directories_in(paths: Iterable[str], read: ReadsEntry) -> Iterator[Result[str, Error]]:
    """The working directory that each of these files names. What is malformed names none; one that the operating system
    would not let us read is an error (P6)."""
    for path in paths:
        match sealed(read(path)):
            case Success(entry):
                if entry is not None and entry.context.cwd is not None:
                    yield Success(entry.context.cwd)
            case Failure(InboxEntryInvalid()):
                continue
            case Failure() as failure:
                yield failure
