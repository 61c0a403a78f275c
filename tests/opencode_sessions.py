"""opencode sessions for tests, in the shapes of 1.18: as an export, as rows."""

from __future__ import annotations

import json
from pathlib import Path

from agent_memory.harness.opencode import OpencodeSessions
from agent_memory.note.note import Harness
from databases import Statement, make_database
from harness_surroundings import Talk

SESSION = "ses_039291878ffeimNGlY5GGKUQmY"
STARTED_MS = 1_785_747_400_584

SCHEMA = (
    (
        "CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,"
        " directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text,"
        " time_created integer NOT NULL, time_updated integer NOT NULL)"
    ),
    (
        "CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,"
        " time_updated integer NOT NULL, data text NOT NULL)"
    ),
    (
        "CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,"
        " time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)"
    ),
    "CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id)",
    "CREATE INDEX part_message_id_id_idx ON part (message_id, id)",
)

Json = dict[str, object]


def id_of(kind: str, at_ms: int, count: int) -> str:
    """An id that ascends with time, as opencode makes them."""
    return f"{kind}_{(at_ms * 0x1000 + count) % (1 << 48):012x}{count:014d}"


class OpencodeTalk(Talk):
    """Messages in order, a second apart, each with its parts."""

    harness, source = Harness.OPENCODE, OpencodeSessions

    def __init__(self, session_id: str = SESSION, **info: object) -> None:
        super().__init__(session_id)
        self.info: Json = {
            "id": session_id,
            "slug": "lucky-canyon",
            "projectID": "52c34de8",
            "directory": "/srv/harbour",
            "title": "Ports of the dev server",
            "version": "1.18.11",
            "time": {"created": STARTED_MS, "updated": STARTED_MS},
        } | info
        self.messages: list[tuple[Json, list[Json]]] = []
        self._count = 0

    def message(self, role: str, *parts: Json | str, **info: object) -> str:
        at_ms = STARTED_MS + 1000 * len(self.messages)
        self._count += 1
        id = id_of("msg", at_ms, self._count)
        made: Json = {"id": id, "sessionID": self.session_id, "role": role, "time": {"created": at_ms}}
        self.messages.append((made | info, []))
        for each in parts:
            self.part({"type": "text", "text": each} if isinstance(each, str) else each)
        return id

    def part(self, part: Json) -> str:
        """One more part of the last message."""
        info, parts = self.messages[-1]
        self._count += 1
        id = id_of("prt", STARTED_MS, self._count)
        parts.append({"id": id, "sessionID": self.session_id, "messageID": info["id"], **part})
        return id

    def user(self, *parts: Json | str, **info: object) -> str:
        return self.message("user", *parts, **info)

    def agent(self, *parts: Json | str, **info: object) -> str:
        spoken = [said(each) if isinstance(each, str) else each for each in parts]
        about = {"modelID": "glm-5", "path": {"cwd": "/srv/harbour", "root": "/srv"}, "finish": "stop"}
        return self.message("assistant", *spoken, **(about | info))

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", used(id, name, output, **arguments))  # type: ignore[arg-type]

    def export(self) -> bytes:
        """What `opencode export` prints."""
        messages = [{"info": info, "parts": parts} for info, parts in self.messages]
        return json.dumps({"info": self.info, "messages": messages}, indent=2).encode()

    def write(self, directory: Path | None = None, name: str = "", end: bytes = b"") -> Path:
        """The database with this session in it."""
        path = (directory or Path.cwd()) / (name or "opencode.db")
        path.unlink(missing_ok=True)
        return make_database(path, *SCHEMA, *self.rows(), wal=True)

    def rows(self) -> list[Statement]:
        info, time = self.info, self.info["time"]
        assert isinstance(time, dict)
        revert = json.dumps(info["revert"]) if "revert" in info else None
        session = (self.session_id, "p", info.get("parentID"), "s", info["directory"], info["title"], "1.18", revert)
        made: list[Statement] = [
            ("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*session, time["created"], time["created"]))
        ]
        for about, parts in self.messages:
            at = about["time"]["created"]  # type: ignore[index] # an object, as made above
            row = (about["id"], self.session_id, at, at, _without_ids(about))
            made.append(("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row))
            for part in parts:
                part_row = (part["id"], about["id"], self.session_id, at, at, _without_ids(part))
                made.append(("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", part_row))
        return made


def said(text: str) -> Json:
    """A finished text of the agent's."""
    return {"type": "text", "text": text, "time": {"start": STARTED_MS, "end": STARTED_MS + 5}}


def used(id: str, tool: str, output: str = "", *, status: str = "completed", **arguments: object) -> Json:
    """A call of a tool with its answer."""
    state: Json = {"status": status, "input": arguments, "time": {"start": STARTED_MS + 7, "end": STARTED_MS + 8}}
    state |= {"error": output} if status == "error" else {"output": output} if status == "completed" else {}
    return {"type": "tool", "callID": id, "tool": tool, "state": state}


def sample(count: int = 5) -> OpencodeTalk:
    """Which port? The first `count` turns of five: the tool's answer comes in the part of its call."""
    talk = OpencodeTalk()
    talk.user("Which port?")
    if count > 1:
        talk.agent({"type": "step-start"}, "I look.")
    if count > 2:
        talk.part(used("c1", "bash", "9090", command="ss"))
    if count > 3:
        talk.user("Use 9191.")
    if count > 4:
        talk.agent("Done.")
    return talk


def _without_ids(value: Json) -> str:
    return json.dumps({key: each for key, each in value.items() if key not in ("id", "sessionID", "messageID")})
