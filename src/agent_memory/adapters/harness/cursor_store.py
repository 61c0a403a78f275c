"""The conversations in the editor's own store, `state.vscdb`, which knows more of them than its transcripts do: answers of
tools, times, title, branch (Cursor 3.19 and older).

Table `cursorDiskKV(key, value)`; under `composerData:<id>` the conversation, with the order of its bubbles in
`fullConversationHeadersOnly` (in old ones the bubbles themselves, in `conversation`), under `bubbleId:<id>:<bubble>` each
bubble: `type` 1 the person's, 2 the agent's; `text`; `toolFormerData{toolCallId, name, params|rawArgs, result, status}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.harness.any_json import objects_at, text_at
from agent_memory.adapters.harness.cursor_bubbles import ComposerSession, time_at
from agent_memory.adapters.harness.first_history import MaybeHistory
from agent_memory.adapters.harness.line_transcripts import history_in, session_after
from agent_memory.adapters.harness.read_only_database import Database, TooLarge
from agent_memory.domain.history import SessionMark
from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.results import sealed

DATABASE = "state.vscdb"
MISSING_BUBBLE = "missing-bubble"

_NEEDED = {"cursorDiskKV": ("key", "value")}
EMPTY_DRAFT = "empty-state-draft"
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_KEYS = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?"

Json = Mapping[str, object]


def history_in_store(session_id: str, mark: SessionMark | None, database: Database) -> MaybeHistory:
    """The conversation's turns after the mark; None where the store does not know it, or only as a draft."""
    if lacking := database.lacks(_NEEDED):
        return Failure(HistoryUnreadable(database.path, f"{lacking}; Cursor seems to have changed: update memory"))
    match sealed(_composer(database, session_id)):
        case Failure() as failure:
            return failure
        case Success(composer):
            if composer is None or composer.get("isDraft") is True or session_id == EMPTY_DRAFT:
                return Success(None)
    bubbles = _Bubbles(database, session_id, composer)
    if not bubbles.any:
        return Success(None)

    def begin_and_fill(session: ComposerSession) -> None:
        session.take_composer(composer, is_sub_agent=is_sub_agent(database, session_id))
        bubbles.fill(session)

    session = session_after(mark, partial(ComposerSession, session_id), begin_and_fill)
    return history_in(session, database, "Cursor")


def _composer(database: Database, session_id: str) -> Result[Json | None, Error]:
    data = database.value(_VALUE, f"composerData:{session_id}")
    if isinstance(data, TooLarge):
        return Failure(HistoryUnreadable(database.path, f"the record of conversation {session_id} is over 16 MiB"))
    if not data:
        return Success(None)
    objects = objects_in(data)
    if len(objects.found) != 1 or objects.broken:
        return Failure(HistoryUnreadable(database.path, f"the record of conversation {session_id} is ruined"))
    return Success(objects.found[0])


def is_sub_agent(database: Database, session_id: str) -> bool:
    """Whether the store lists the conversation as a sub-agent's."""
    if not {"composerId", "isSubagent"} <= database.columns("composerHeaders"):
        return False
    wanted = "SELECT isSubagent FROM composerHeaders WHERE composerId = ?"
    return database.is_led_to(wanted, session_id) and database.value(wanted, session_id) == b"1"


class _Bubbles:
    """Where the bubbles of one conversation are, in order."""

    def __init__(self, database: Database, session_id: str, composer: Json) -> None:
        self._database = database
        self._prefix = f"bubbleId:{session_id}:"
        headers = objects_at(composer, "fullConversationHeadersOnly")
        self._keys = [self._prefix + text_at(header, "bubbleId") for header in headers]
        self._inline = [] if headers else objects_at(composer, "conversation")
        if headers and not any(self._is_there(key) for key in self._keys):
            self._keys = self._by_time() or self._keys

    @property
    def any(self) -> bool:
        """Whether the conversation has bubbles at all."""
        return bool(self._keys or self._inline)

    def fill(self, session: ComposerSession) -> None:
        """Give them to the session, one at a time."""
        for inline in self._inline:
            session.take_object(inline)
        for key in self._keys:
            if session.done:
                return
            bubble = self._read(key, session)
            if bubble is not None:
                session.take_object({**bubble, "bubbleId": key.removeprefix(self._prefix)})

    def _is_there(self, key: str) -> bool:
        return next(self._database.rows("SELECT 1 FROM cursorDiskKV WHERE key = ?", key), None) is not None

    def _by_time(self) -> list[str]:
        """The keys of all its bubbles by the times in them: the headers' ids may be other ones than the rows'."""
        found = self._database.rows(_KEYS, self._prefix, f"{self._prefix[:-1]};")
        keys = [key.decode("utf-8", "replace") for (key,) in found if isinstance(key, bytes)]
        return [key for _, key in sorted((self._time_of(key), key) for key in keys)]

    def _time_of(self, key: str) -> int:
        data = self._database.value(_VALUE, key)
        bubble = objects_in(data).found if isinstance(data, bytes) else ()
        return (time_at(bubble[0]) if bubble else None) or 0

    def _read(self, key: str, session: ComposerSession) -> Json | None:
        data = self._database.value(_VALUE, key)
        if isinstance(data, TooLarge):
            session.turns.skip("line-too-long")
            return None
        if not data:
            session.turns.skip(MISSING_BUBBLE)  # updates of Cursor are known to lose some
            return None
        objects = objects_in(data)
        if len(objects.found) != 1 or objects.broken:
            session.turns.skip("line-too-complex" if objects.too_many_values else "bad-line")
            return None
        return objects.found[0]
