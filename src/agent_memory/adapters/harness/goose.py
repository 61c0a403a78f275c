"""Histories of goose sessions, from its database or the files of versions before 1.10 (`goose-session`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attrs import frozen
from returns.result import Failure, Result

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.first_history import MaybeHistory, first_history, known_history
from agent_memory.adapters.harness.goose_session import GooseSession
from agent_memory.adapters.harness.line_transcripts import (
    history_in,
    not_looked_for,
    read_session,
    read_transcript,
    session_after,
)
from agent_memory.adapters.harness.read_only_database import Database, TooLarge, read_database, text_of
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, find_transcript
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.errors import Error, HistoryUnavailable

DATABASE = "sessions.db"

_NEEDED = {
    "sessions": ("id", "working_dir"),
    "messages": ("id", "session_id", "role", "content_json", "created_timestamp"),
}
_HEADER_COLUMNS = ("name", "description", "session_type", "working_dir", "created_at", "schedule_id")
_NOTHING = b"[]"


@frozen
class GooseSessions:
    """Reads `sessions.db` in one of the `roots`, and where that does not know the session, `<session-id>.jsonl`.

    A person's words are the texts of user messages; what tools answered stands in user messages too, and is theirs. What
    only the model saw (summaries at compaction, what they replaced) is left out. Scheduled sessions, sub-agents' and hidden
    ones are automated.

    Errors: see `read_database` and `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        retrieval = entry.retrieval
        if not isinstance(retrieval, SessionFile) or retrieval.method != "goose-session":
            raise TypeError(f"{retrieval.method} is not goose-session")
        where = ", ".join(self.roots.roots) or "any known directory"
        absent = HistoryUnavailable(retrieval.session_id, f"goose knows no such session in {where}", is_missing=True)
        return first_history(self._looks(retrieval, mark), absent)

    def _looks(self, retrieval: SessionFile, mark: SessionMark | None) -> Iterator[MaybeHistory]:
        session_id, named = retrieval.session_id, retrieval.session_path
        if named is not None and not named.endswith(".jsonl"):
            yield read_database(self.roots, named, session_id, partial(_in_database, session_id, mark))
        try:
            databases = [database for root in self.roots.roots if lies_there(database := f"{root}/{DATABASE}")]
        except OSError as error:
            yield Failure(not_looked_for(session_id, error))
            return
        for database in databases:
            yield read_database(self.roots, database, session_id, partial(_in_database, session_id, mark))
        try:
            path = named if named is not None and named.endswith(".jsonl") else find_transcript(self.roots, session_id)
        except OSError as error:
            yield Failure(not_looked_for(session_id, error))
            return
        if path is not None:
            yield read_transcript(self.roots, path, session_id, partial(_in_file, mark))


def _in_file(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    return history_in(read_session(file, mark, partial(GooseSession, session_id)), file, "goose")


def _in_database(session_id: str, mark: SessionMark | None, database: Database) -> MaybeHistory:
    return known_history(
        database,
        "goose",
        _NEEDED,
        "sessions",
        session_id,
        lambda: session_after(mark, partial(GooseSession, session_id), partial(_fill, database, session_id)),
    )


def _fill(database: Database, session_id: str, session: GooseSession) -> None:
    session.take_object(_header(database, session_id))
    has_metadata = "metadata_json" in database.columns("messages")
    has_ids = "message_id" in database.columns("messages")
    rows = database.rows(
        f"SELECT id, role, created_timestamp, {'message_id' if has_ids else 'NULL'} "
        "FROM messages WHERE session_id = ? ORDER BY id",
        session_id,
    )
    for number, role, created, message_id in rows:
        content = database.value("SELECT content_json FROM messages WHERE id = ?", number)
        metadata = database.value("SELECT metadata_json FROM messages WHERE id = ?", number) if has_metadata else None
        if isinstance(content, TooLarge) or isinstance(metadata, TooLarge):
            session.turns.skip("line-too-long")
            continue
        blocks = objects_in(b'{"content": %s}' % (content or _NOTHING))
        about = objects_in(metadata or b"{}")
        if len(blocks.found) != 1 or blocks.broken or about.broken:
            session.turns.skip("line-too-complex" if blocks.too_many_values else "bad-line")
            continue
        made = {"id": text_of(message_id), "role": text_of(role), "created": created}
        session.take_object(
            made | {"content": blocks.found[0]["content"], "metadata": next(iter(about.found), dict[str, object]())}
        )
        if session.done:
            break


def _header(database: Database, session_id: str) -> dict[str, object]:
    there = database.columns("sessions")
    header: dict[str, object] = {}
    for column in (*_HEADER_COLUMNS, "model_config_json"):
        value = database.value(f"SELECT {column} FROM sessions WHERE id = ?", session_id) if column in there else None
        header[column] = text_of(value) if isinstance(value, bytes) else ""
    header["model_config"] = next(
        iter(objects_in(text_of(header["model_config_json"]).encode()).found), dict[str, object]()
    )
    return header
