"""Cursor conversations for tests: lines of transcripts of 2026.09, and the editor's store of 3.19."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agent_memory.harness.cursor_store import CursorSessions
from agent_memory.note.note import Harness
from databases import Statement, make_database
from harness_surroundings import Talk

SESSION = "6e22aebd-b34d-4fb0-aa0b-2fff5bc2163f"
STARTED_MS = 1_790_663_340_000
"""2026-09-29 06:29 UTC."""

SCHEMA = (
    "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, isSubagent INTEGER, value TEXT)",
)

Json = dict[str, object]


class Transcript(Talk):
    """Lines in order."""

    harness, source = Harness.CURSOR, CursorSessions

    def __init__(self, session_id: str = SESSION) -> None:
        super().__init__(session_id)

    def user(self, text: str, *, at: str = "Tuesday, Sep 29, 2026, 2:29 AM (UTC-4)") -> None:
        self.say("user", f"<timestamp>{at}</timestamp>\n<user_query>\n{text}\n</user_query>")

    def agent(self, *blocks: Mapping[str, object] | str) -> None:
        self.say("assistant", *blocks)

    def say(self, role: str, *blocks: Mapping[str, object] | str) -> None:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        self.put({"role": role, "message": {"content": content}})

    def result(self, text: str) -> None:
        self.say("user", {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": text}]})

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", calls(name, **arguments))
        self.result(output)

    def end(self) -> None:
        self.put({"type": "turn_ended", "status": "success"})

    def write(self, directory: Path | None = None, name: str = "srv-harbour", end: bytes = b"\n") -> Path:
        """The transcript where Cursor keeps it, among those of a project."""
        return super().write(directory, f"{name}/agent-transcripts/{self.session_id}/{self.session_id}.jsonl", end)


def calls(name: str, **arguments: object) -> Json:
    """A `tool_use` block."""
    return {"type": "tool_use", "name": name, "input": arguments}


def sample_transcript() -> Transcript:
    """Which port? Of each kind of turn one."""
    talk = Transcript()
    talk.user("Which port?")
    talk.agent("I look.", calls("Shell", command="ss"))
    talk.result("9090")
    talk.user("Use 9191.")
    talk.agent("Done.")
    return talk


class Composer(Talk):
    """Bubbles in order, a second apart."""

    harness, source = Harness.CURSOR, CursorSessions

    def __init__(self, session_id: str = SESSION, *, is_sub_agent: bool = False, **about: object) -> None:
        super().__init__(session_id)
        self.is_sub_agent = is_sub_agent
        self.about: Json = {
            "_v": 16,
            "composerId": session_id,
            "name": "Ports of the dev server",
            "createdAt": STARTED_MS,
            "status": "completed",
            "workspaceIdentifier": {"id": "w", "uri": {"fsPath": "/srv/harbour"}},
            "modelConfig": {"modelName": "gpt-5.5"},
            "trackedGitRepos": [
                {
                    "repoPath": "/srv/harbour",
                    "branches": [
                        {"branchName": "old", "lastInteractionAt": 1},
                        {"branchName": "ports", "lastInteractionAt": 2},
                    ],
                }
            ],
        } | about
        self.bubbles: list[Json] = []

    def bubble(self, kind: int, text: str = "", **further: object) -> Json:
        at = STARTED_MS + 1000 * len(self.bubbles)
        made: Json = {"_v": 3, "bubbleId": f"b{len(self.bubbles)}", "type": kind, "text": text, "createdAt": at}
        self.bubbles.append(made | further)
        return self.bubbles[-1]

    def user(self, text: str, **further: object) -> Json:
        return self.bubble(1, text, **further)

    def agent(self, text: str = "", **further: object) -> Json:
        return self.bubble(2, text, **further)

    def write(self, directory: Path | None = None, name: str = "state.vscdb", end: bytes = b"") -> Path:
        """The store with this conversation in it."""
        path = (directory or Path.cwd()) / name
        path.unlink(missing_ok=True)
        return make_database(path, *SCHEMA, *self.rows(), wal=True)

    def rows(self) -> list[Statement]:
        headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in self.bubbles]
        about = {"fullConversationHeadersOnly": headers} | self.about
        put = "INSERT INTO cursorDiskKV VALUES (?, ?)"
        return [
            ("INSERT INTO composerHeaders VALUES (?, ?, '{}')", (self.session_id, int(self.is_sub_agent))),
            (put, (f"composerData:{self.session_id}", json.dumps(about))),
            *(
                (put, (f"bubbleId:{self.session_id}:{bubble['bubbleId']}", json.dumps(bubble).encode()))
                for bubble in self.bubbles
            ),
        ]


def tool(name: str, result: object, *, status: str = "completed", **arguments: object) -> Json:
    """The members of a bubble with a call."""
    made = {"toolCallId": f"call_{name}", "name": name, "status": status, "rawArgs": json.dumps(arguments)}
    return {"toolFormerData": made | ({} if result is None else {"result": json.dumps(result)})}


def sample_composer(count: int = 5) -> Composer:
    """Which port? The first `count` turns of five: the tool's answer comes in the bubble of its call."""
    talk = Composer()
    talk.user("Which port?")
    if count > 1:
        answered = {"output": "9090"} if count > 2 else None
        talk.agent("I look.", **tool("run_terminal_cmd", answered, command="ss"))
    if count > 3:
        talk.user("Use 9191.")
    if count > 4:
        talk.agent("Done.")
    return talk
