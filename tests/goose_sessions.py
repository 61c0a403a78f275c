"""goose sessions for tests, in the shapes of 1.41."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_memory.harness.goose import GooseSessions
from agent_memory.note.note import Harness
from databases import make_database
from harness_surroundings import Talk

SESSION = "20260708_1"
STARTED_SECONDS = 1_783_545_150

SCHEMA = (
    "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP)",
    "INSERT INTO schema_version VALUES (17, '2026-07-08 21:12:19')",
    (
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',"
        " user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,"
        " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, schedule_id TEXT,"
        " provider_name TEXT, model_config_json TEXT, parent_session_id TEXT)"
    ),
    (
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,"
        " role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,"
        " timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT)"
    ),
    "CREATE INDEX idx_messages_session ON messages(session_id)",
)

Json = dict[str, object]


class GooseTalk(Talk):
    """Messages in order, a second apart."""

    harness, source = Harness.GOOSE, GooseSessions

    def __init__(self, **session: object) -> None:
        super().__init__(str(session.get("id", SESSION)))
        self.messages: list[Json] = []
        self.session: Json = {
            "id": SESSION, "name": "Ports of the dev server", "session_type": "user", "working_dir": "/srv/harbour",
            "created_at": "2026-07-08 21:12:19", "schedule_id": None, "model_config_json": '{"model_name": "gpt-4o"}',
        } | session  # fmt: skip

    def message(self, role: str, *blocks: Mapping[str, object] | str, id: str = "", **further: object) -> None:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        at = STARTED_SECONDS + len(self.messages)
        made: Json = {"id": id or f"msg-{len(self.messages)}", "role": role, "created": at, "content": content}
        self.messages.append(made | {"metadata": {"userVisible": True, "agentVisible": True}} | further)

    def user(self, *blocks: Mapping[str, object] | str, **further: object) -> None:
        self.message("user", *blocks, **further)  # type: ignore[arg-type]

    def agent(self, *blocks: Mapping[str, object] | str, **further: object) -> None:
        self.message("assistant", *blocks, **further)  # type: ignore[arg-type]

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", calls(id, name, **arguments))
        self.user(answers(id, output))

    def write(self, directory: Path | None = None, name: str = "", end: bytes = b"") -> Path:
        """The database with this session in it."""
        path = (directory or Path.cwd()) / (name or "sessions.db")
        path.unlink(missing_ok=True)
        marks = ", ".join("?" * len(self.session))
        session = (f"INSERT INTO sessions ({', '.join(self.session)}) VALUES ({marks})", tuple(self.session.values()))
        return make_database(path, *SCHEMA, session, *map(self._row, self.messages), wal=True)

    def _row(self, message: Json) -> tuple[str, Sequence[object]]:
        content = message["content"]
        values = (
            message["id"],
            self.session["id"],
            message["role"],
            content if isinstance(content, str) else json.dumps(content),
            message["created"],
            json.dumps(message["metadata"]),
        )
        columns = "message_id, session_id, role, content_json, created_timestamp, metadata_json"
        return f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values


def calls(id: str, name: str, **arguments: object) -> Json:
    """A `toolRequest` block."""
    return {
        "type": "toolRequest",
        "id": id,
        "toolCall": {"status": "success", "value": {"name": name, "arguments": arguments}},
    }


def answers(id: str, text: str, *, failed: bool = False) -> Json:
    """A `toolResponse` block."""
    value = {"content": [{"type": "text", "text": text}], "isError": failed}
    return {"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": value}}


def sample() -> GooseTalk:
    """Which port? Of each kind of turn one."""
    talk = GooseTalk()
    talk.user("Which port?")
    talk.agent("I look.", calls("c1", "developer__shell", command="ss"))
    talk.user(answers("c1", "9090"))
    talk.user("Use 9191.")
    talk.agent("Done.")
    return talk
