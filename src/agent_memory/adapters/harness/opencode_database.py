"""The sessions in opencode's database (1.2 and later): tables `session`, `message`, `part`, the last two with JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.harness.first_history import MaybeHistory, known_history
from agent_memory.adapters.harness.line_transcripts import session_after
from agent_memory.adapters.harness.opencode_session import OpencodeSession
from agent_memory.adapters.harness.read_only_database import Database, TooLarge, text_of
from agent_memory.domain.history import SessionMark

_NEEDED = {
    "session": ("id", "directory"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "data"),
}


def is_opencode_database(name: str) -> bool:
    """Whether a file of this name is a database of opencode's, or of one of its channels'."""
    return name == "opencode.db" or (name.startswith("opencode-") and name.endswith(".db"))


def history_in_database(session_id: str, mark: SessionMark | None, database: Database) -> MaybeHistory:
    """The session's turns after the mark; None where the database does not know it."""
    return known_history(
        database,
        "opencode",
        _NEEDED,
        "session",
        session_id,
        lambda: session_after(mark, partial(OpencodeSession, session_id), partial(_fill, database, session_id)),
    )


def _fill(database: Database, session_id: str, session: OpencodeSession) -> None:
    session.take("session", _session_row(database, session_id))
    # Without its time, a message's id does: opencode sorts by either.
    messages = database.rows("SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id", session_id)
    for message_key in (text_of(id) for (id,) in messages):
        message = _object(session, database.value("SELECT data FROM message WHERE id = ?", message_key), message_key)
        if message is None:
            continue
        session.take("message", message)
        for part in _parts(database, session, message_key):
            session.take("part", part)
            if session.done:
                return
        if session.done:
            return


def _parts(database: Database, session: OpencodeSession, message_key: str) -> Iterator[Mapping[str, object]]:
    parts = database.rows("SELECT id FROM part WHERE message_id = ? ORDER BY id", message_key)
    for part_key in (text_of(id) for (id,) in parts):
        part = _object(session, database.value("SELECT data FROM part WHERE id = ?", part_key), part_key)
        if part is not None:
            yield part


def _session_row(database: Database, session_id: str) -> Mapping[str, object]:
    there = database.columns("session")

    def column(name: str) -> str:
        value = database.value(f"SELECT {name} FROM session WHERE id = ?", session_id) if name in there else None
        return text_of(value) if isinstance(value, bytes) else ""

    created = column("time_created")[:20]
    return {
        "title": column("title"),
        "directory": column("directory"),
        "parentID": column("parent_id"),
        "time": {"created": int(created) if created.isdecimal() else None},
        "revert": next(iter(objects_in(column("revert").encode()).found), dict[str, object]()),
    }


def _object(session: OpencodeSession, data: bytes | TooLarge | None, key: str) -> Mapping[str, object] | None:
    if isinstance(data, TooLarge):
        session.turns.skip("line-too-long")
        return None
    objects = objects_in(data or b"")
    if len(objects.found) != 1 or objects.broken:
        session.turns.skip("line-too-complex" if objects.too_many_values else "bad-line")
        return None
    return {**objects.found[0], "id": key}
