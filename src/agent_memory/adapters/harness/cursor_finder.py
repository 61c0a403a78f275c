"""Past conversations of Cursor, from transcripts and from the editor's own store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.harness.any_json import list_at, mapping_at, number_at, text_at
from agent_memory.adapters.harness.cursor_bubbles import time_at
from agent_memory.adapters.harness.cursor_store import DATABASE, EMPTY_DRAFT, is_sub_agent
from agent_memory.adapters.harness.database_finder import Row, instant_of, merged, sessions_in
from agent_memory.adapters.harness.read_only_database import Database, text_of
from agent_memory.adapters.harness.transcript_finder import TranscriptFinder
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnreadable

_NEEDED = {"cursorDiskKV": ("key", "value")}
_PREFIX, _END = "composerData:", "composerData;"
_KEYS = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?"
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_CHANGED = "SELECT lastUpdatedAt FROM composerHeaders WHERE composerId = ?"


@frozen
class CursorFinder:
    """Looks for transcripts, and asks the editor's store in each of their roots for further conversations."""

    files: TranscriptFinder

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`. A draft is no conversation, nor is one in which nothing was said yet."""
        roots = self.files.roots
        stores = (sessions_in(roots, f"{root}/{DATABASE}", Harness.CURSOR, cursor_rows) for root in roots.roots)
        return merged(chain(self.files.find(None), chain.from_iterable(stores)), since_ms)


def cursor_rows(database: Database) -> Result[tuple[Row, ...], Error]:
    """The conversations of persons in a store of the editor's. One whose record cannot be read is one of them: reading it
    will tell why."""
    if lacking := database.lacks(_NEEDED):
        return Failure(HistoryUnreadable(database.path, f"{lacking}; Cursor seems to have changed: update memory"))
    # The store has tens of gigabytes with some people: the keys come from its index, and of the records one at a time.
    keys = [text_of(key) for (key,) in database.rows(_KEYS, _PREFIX, _END)]
    return Success(tuple(row for key in keys if (row := _row(database, key.removeprefix(_PREFIX))) is not None))


def _row(database: Database, session_id: str) -> Row | None:
    if session_id == EMPTY_DRAFT or is_sub_agent(database, session_id):
        return None
    data = database.value(_VALUE, _PREFIX + session_id)
    if not data:
        return None
    objects = objects_in(data) if isinstance(data, bytes) else None
    if objects is None or len(objects.found) != 1 or objects.broken:
        return Row(session_id, _changed_at_ms(database, session_id))
    composer = objects.found[0]
    said = list_at(composer, "fullConversationHeadersOnly") or list_at(composer, "conversation")
    of_sub_agent = mapping_at(composer, "subagentInfo") or text_at(composer, "subagentTypeName")
    if composer.get("isDraft") is True or not said or of_sub_agent:
        return None
    told = instant_of(number_at(composer, "lastUpdatedAt"))
    changed = [at_ms for at_ms in (told, _changed_at_ms(database, session_id)) if at_ms is not None]
    return Row(session_id, max(changed, default=None), instant_of(time_at(composer)))


def _changed_at_ms(database: Database, session_id: str) -> int | None:
    if not {"composerId", "lastUpdatedAt"} <= database.columns("composerHeaders"):
        return None
    if not database.is_led_to(_CHANGED, session_id):
        return None
    told = database.value(_CHANGED, session_id)
    return instant_of(int(told)) if isinstance(told, bytes) and told.isdigit() and len(told) < 20 else None
