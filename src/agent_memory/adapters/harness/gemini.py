"""Histories of Gemini CLI sessions, from the chats that it keeps (`gemini-session`)."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from enum import Enum
from functools import partial
from hashlib import sha256

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, LongLine, read_lines
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.harness.any_json import mapping_at, object_in
from agent_memory.adapters.harness.gemini_session import GeminiSession, Spans
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    is_session_id,
    transcript,
    transcripts_below,
)
from agent_memory.adapters.harness.turn_drafts import NewFrom
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.errors import Error, HistoryUnavailable, StoreIo
from agent_memory.results import sealed

_MAX_DEPTH = 3
"""Chats are in `tmp/<project>/chats/`, those of sub-agents one level deeper."""
_HEAD_BYTES = 64 * 1024
_MAX_PROJECTS_BYTES = 4 * 1024 * 1024
_MAX_PATH_BYTES = 8 * 1024
_SHORT_ID_CHARS = 8


@frozen
class GeminiSessions:
    """Reads chats inside `roots`, of both forms, one message at a time (P25, P27).

    Where the session took place is in no chat; it is in the project's `.project_root`, or in `projects.json`. Errors: see
    `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "gemini-session", find_chat, partial(_read, mark))


def find_chat(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest chat that says it is this session, since names hold only the first characters of the id; or that cannot be
    asked, which its reader tells: an older one may say less (P6)."""
    if not is_session_id(session_id):
        return None
    short = session_id[:_SHORT_ID_CHARS]

    def is_name(name: str) -> bool:
        stem, _, ending = name.rpartition(".")
        return ending in ("json", "jsonl") and (
            stem == session_id or (stem.startswith("session-") and stem.endswith(f"-{short}"))
        )

    found = (path for path in transcripts_below(roots, is_name, _MAX_DEPTH) if _is_chat_of(roots, path, session_id))
    return next(found, None)


def _is_chat_of(roots: TranscriptRoots, path: str, session_id: str) -> bool:
    with transcript(roots, path, session_id) as opened:
        match opened:
            case Success(OpenTranscript() as file):
                try:
                    head = os.read(file.descriptor, _HEAD_BYTES)
                except OSError:
                    return True
                said = re.search(rb'"sessionId"\s*:\s*"([^"\\]*)"', head)
                return said is not None and said[1] == session_id.encode()
            case Failure(HistoryUnavailable(is_missing=False)):
                return True
            case _:
                return False


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    pieces = _messages if file.path.endswith(".json") else read_lines
    cwd = _project_of(file.path)

    def begin(new_from: NewFrom) -> GeminiSession:
        return GeminiSession(session_id, new_from, cwd, taken_back)

    taken_back: Spans | None = None
    session = read_session(file, mark, begin, pieces)
    if session.full:
        # What was kept may all have been taken back later, and what counts come after it.
        taken_back = session.taken_back
        session = read_session(file, mark, begin, pieces)
    return history_in(session, file, "the Gemini CLI")


def _messages(descriptor: int, size_bytes: int) -> Iterator[Line | LongLine]:
    return read_items(descriptor, size_bytes, b"messages")


def _project_of(path: str) -> str | None:
    """The directory that the chat's project is about; None where nothing says it."""
    directory_of_project, found, _ = path.rpartition("/chats/")
    if not found:
        return None
    tmp, name = os.path.split(directory_of_project)
    told = _text_of(f"{directory_of_project}/.project_root", _MAX_PATH_BYTES).strip()
    if told.startswith("/"):
        return told
    projects = mapping_at(object_in(_text_of(f"{os.path.dirname(tmp)}/projects.json", _MAX_PROJECTS_BYTES)), "projects")
    for directory, slug in projects.items():
        if name in (slug, sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()):
            return directory
    return None


def _text_of(path: str, max_bytes: int) -> str:
    """The text of a small file, empty where there is none. Raises OSError where a read fails (P6)."""
    match sealed(read_file(path, max_bytes)):
        case Success(image):
            return image.data.decode("utf-8", "replace") if image is not None else ""
        case Failure(StoreIo(reason=reason)):
            raise OSError(errno.EIO, reason, path)
        case Failure():  # a link, or far too large: not what Gemini writes
            return ""


_CHUNK_BYTES = 256 * 1024
_MAX_FRAME_BYTES = 4 * 1024 * 1024
_KEY_BYTES = 200
_OUTSIDE = re.compile(rb'["\[\]{}]')
_INSIDE = re.compile(rb'["\\]')


def read_items(
    descriptor: int,
    size_bytes: int,
    list_key: bytes,
    max_item_bytes: int = MAX_LINE_BYTES,
    chunk_bytes: int = _CHUNK_BYTES,
) -> Iterator[Line | LongLine]:
    """Each object in the list `list_key` of the document's outermost object, then that object itself with an empty list.

    Reads the next `size_bytes` bytes of an open file, and holds one item and one chunk at a time. Only quotes and brackets
    are looked at: what is between them may be no JSON. Of a document that was cut short, the last item is not `finished`,
    and what is around the list is closed where that is a matter of brackets. A longer item is skipped. Raises OSError
    where a read fails.
    """
    scan = _Scan(list_key, max_item_bytes)
    while size_bytes > 0 and (chunk := os.read(descriptor, min(chunk_bytes, size_bytes))):
        size_bytes -= len(chunk)
        yield from scan.items_in(chunk)
    yield from scan.rest()


class _Place(Enum):
    FRAME = "around the list"
    LIST = "in the list, between its items"
    ITEM = "in an item"


class _Scan:
    """Where in the document the bytes so far end, and what is not complete."""

    def __init__(self, list_key: bytes, max_item_bytes: int) -> None:
        self._list_begins = re.compile(rb'"' + re.escape(list_key) + rb'"\s*:\s*\[\Z')
        self._max_item_bytes = max_item_bytes
        self._place = _Place.FRAME
        self._depth = 0
        self._in_string = False
        self._skip_bytes = 0
        """Of the next chunk: the rest of an escape."""
        self._frame = bytearray()
        self._item = bytearray()
        self._item_bytes = 0

    def items_in(self, chunk: bytes) -> Iterator[Line | LongLine]:
        at, self._skip_bytes = self._skip_bytes, 0
        kept_to = 0
        while found := (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at):
            at = found.end()
            sign = found[0]
            if sign == b"\\":
                self._skip_bytes = max(0, at + 1 - len(chunk))
                at += 1
            elif sign == b'"':
                self._in_string = not self._in_string
            elif sign in b"[{":
                self._depth += 1
                if self._place is _Place.FRAME and self._depth == 2:
                    self._keep(chunk, kept_to, at)
                    kept_to = at
                    if self._list_begins.search(self._frame[-_KEY_BYTES:]):
                        self._place = _Place.LIST
                elif self._place is _Place.LIST and sign == b"{":
                    kept_to = at - 1
                    self._place = _Place.ITEM
            else:
                self._depth -= 1
                if self._place is _Place.ITEM and self._depth == 2:
                    self._keep(chunk, kept_to, at)
                    kept_to = at
                    self._place = _Place.LIST
                    yield self._finished_item()
                elif self._place is _Place.LIST and self._depth == 1:
                    kept_to = at - 1
                    self._place = _Place.FRAME
        self._keep(chunk, kept_to, len(chunk))

    def rest(self) -> Iterator[Line | LongLine]:
        """What is left at the end of the file."""
        if self._place is _Place.ITEM:
            yield self._finished_item(finished=False)
        if self._frame.strip():
            missing = b"" if self._depth <= 0 or self._in_string else b"}"
            ends = missing if self._place is _Place.FRAME else b"]}"
            yield Line(self._frame + ends, finished=self._depth <= 0)

    def _keep(self, chunk: bytes, begin: int, end: int) -> None:
        if self._place is _Place.ITEM:
            self._item_bytes += end - begin
            if self._item_bytes <= self._max_item_bytes:
                self._item += memoryview(chunk)[begin:end]
            else:
                self._item = bytearray()
        elif self._place is _Place.FRAME and len(self._frame) < _MAX_FRAME_BYTES:
            self._frame += memoryview(chunk)[begin:end]

    def _finished_item(self, *, finished: bool = True) -> Line | LongLine:
        item, size_bytes = self._item, self._item_bytes
        self._item, self._item_bytes = bytearray(), 0
        return Line(item, finished) if size_bytes <= self._max_item_bytes else LongLine(size_bytes)
