"""Reading the inbox's files: None where there is none, `InboxEntryInvalid` where it is malformed; any other error says
nothing about what is in the file (P6)."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import read_file
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.errors import Error, InboxEntryInvalid, PathRefused
from agent_memory.formats.inbox_json import MAX_ENTRY_BYTES, parse_inbox_entry, parse_retired_entry
from agent_memory.results import sealed

MAX_RETIRED_BYTES = 4 << 20


def text_in(path: str, max_bytes: int) -> Result[str | None, Error]:
    """The text of a regular file in UTF-8 of at most `max_bytes`; anything else that lies there is malformed."""
    match sealed(read_file(path, max_bytes)):
        case Success(image):
            return Success(None) if image is None else _decoded(image.data)
        case Failure(PathRefused(_, reason)):
            return Failure(InboxEntryInvalid((reason,)))
        case Failure(error):
            return Failure(error)


def _decoded(data: bytes) -> Result[str | None, Error]:
    try:
        return Success(data.decode())
    except UnicodeDecodeError as error:
        return Failure(InboxEntryInvalid((f"the file is not UTF-8 at byte {error.start:,}",)))


def entry_in(path: str) -> Result[InboxEntry | None, Error]:
    """The pending entry in a file."""
    match sealed(text_in(path, MAX_ENTRY_BYTES)):
        case Success(text):
            return Success(None) if text is None else parse_inbox_entry(text).alt(_as_error)
        case Failure(error):
            return Failure(error)


def retired_in(path: str) -> Result[InboxEntry | None, Error]:
    """The entry in a file that has its outcome with it."""
    match sealed(text_in(path, MAX_RETIRED_BYTES)):
        case Success(text):
            return Success(None) if text is None else parse_retired_entry(text).map(lambda it: it[0]).alt(_as_error)
        case Failure(error):
            return Failure(error)


def _as_error(error: InboxEntryInvalid) -> Error:
    return error


def printable(name: str) -> str:
    """A file's name as it may be shown on any terminal."""
    return name if name.isprintable() else ascii(name)[1:-1]
