"""opencode (1.2 to 1.18): `opencode.db` in its data directory (other channels have `opencode-*.db`), or an export.

Tables `session`, `message`, `part`, the last two with JSON in `data`; `opencode export` prints the same as `{info,
messages[{info, parts[]}]}`. Parts: `text{text, synthetic?, ignored?, time?}`, `tool{tool, callID, state{status, input, output,
error, time}}`, and some that say nothing. A session with a parent is a sub-agent's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Self

from agent_memory.errors import HistoryUnreadable
from agent_memory.files.lines import MAX_LINE_BYTES, objects_in
from agent_memory.files.paths import lies_there
from agent_memory.harness import any_json as get, databases as db, transcripts as files
from agent_memory.harness.turn_builder import asked
from agent_memory.note.note import Harness
from agent_memory.session.history import History, SessionMark

# -- the session ------------------------------------------------------------------------------------------------------

_SILENT_PARTS = (
    *("step-start", "step-finish", "snapshot", "patch", "reasoning", "file", "agent", "retry", "subtask"),
    *("compaction", "todo"),
)
_OWN_TOOLS = ("apply_patch", "plan_enter", "plan_exit")
"""Those with a name like `SERVER_TOOL`, as a tool of an MCP server has it."""
_OWN_TITLES = re.compile(r"(?:new|child) session - ", re.IGNORECASE)
_NOTICES = (
    *("<system-reminder>", "Called the ", "Continue if you have next steps", "Summarize the task tool output"),
    *("The following tool was executed by the user", "Reading MCP resource: "),
)
"""How the texts begin that opencode itself puts into a person's message; the others it puts there are files and pages."""
_ID_TIME = re.compile(r"msg_([0-9a-f]{12})", re.ASCII)
_ID_TIME_BITS = 36
_COPIED_LATER_MS = 60_000


class OpencodeSession(db.StoredSession):
    """A session, then its messages, each followed by its parts, which are the records. One that is still being
    written is left for the next time. What a revert took back or a fork copied is left out, as are summaries."""

    harness, question_tool = Harness.OPENCODE, "question"

    def take_from(self, database: db.Database) -> None:
        told = database.texts_of("session", self.session_id, ("title", "parent_id", "time_created", "revert"))
        directory = database.text("SELECT directory FROM session WHERE id = ?", self.session_id)
        created = told.get("time_created", "")[:20]
        times = {"created": int(created) if created.isdecimal() else None}
        revert = get.parsed_object(told.get("revert"))
        further = {"directory": directory, "parentID": told.get("parent_id"), "time": times, "revert": revert}
        self.take_all({**told, **further}, self._messages_in(database))

    def _messages_in(self, database: db.Database) -> Iterator[tuple[get.Json, Iterator[get.Json]]]:
        def data_of(table: str, id: object) -> get.Json | None:
            found = db.one_object(self, database.value(f"SELECT data FROM {table} WHERE id = ?", db.text_of(id)))
            return None if found is None else {**found, "id": db.text_of(id)}

        # Without its time, a message's id does: opencode sorts by either.
        ids = database.rows("SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id", self.session_id)
        for (id,) in ids:
            if (message := data_of("message", id)) is not None:
                parts = database.rows("SELECT id FROM part WHERE message_id = ? ORDER BY id", db.text_of(id))
                yield message, (part for (each,) in parts if (part := data_of("part", each)) is not None)

    def take_all(self, info: get.Json, messages: Iterable[tuple[get.Json, Iterable[get.Json]]]) -> None:
        """What is known of the session as a whole, and its messages with their parts."""
        self.known_records += 1
        title = get.text(info, "title")
        self.note(title="" if _OWN_TITLES.match(title) else title, cwd=get.text(info, "directory"))
        self.started_at_ms = get.number(get.mapping(info, "time"), "created")
        # A session with a parent is a sub-agent's: its last words are the answer of a tool in the parent.
        self.automated = bool(get.text(info, "parentID"))
        held = None
        for message, part in self._not_reverted(get.mapping(info, "revert"), messages):
            if held:
                self._add_part(*held)
            if self.done:
                return
            held = (message, part)
        if held and not _is_unfinished(held[1]):
            self._add_part(*held)

    def _not_reverted(
        self, revert: get.Json, messages: Iterable[tuple[get.Json, Iterable[get.Json]]]
    ) -> Iterator[tuple[get.Json, get.Json]]:
        reverted = (get.text(revert, "messageID"), get.text(revert, "partID"))
        for message, parts in messages:
            role, id = message.get("role"), get.text(message, "id")
            created = get.number(get.mapping(message, "time"), "created")
            if not self.knows(f"role {role}", role in ("user", "assistant")):
                continue
            self.started_at_ms = created if self.started_at_ms is None else self.started_at_ms
            self.note(cwd=get.text(get.mapping(message, "path"), "cwd"), agent=get.text(message, "modelID"))
            whole: get.Json = {}
            for part in (whole, *parts):  # a message is reverted as a whole, or from one of its parts on
                if reverted[0] and reverted == (id, get.text(part, "id")):
                    self.enter(id, created)
                    return
                if part:
                    yield message, part

    def _add_part(self, message: get.Json, part: get.Json) -> None:
        kind, id = get.text(part, "type"), get.text(message, "id")
        created = get.number(get.mapping(message, "time"), "created")
        if not self.knows(f"part {kind}", kind in ("text", "tool", *_SILENT_PARTS)) or kind in _SILENT_PARTS:
            return
        state = get.mapping(part, "state")
        time = get.mapping(state if kind == "tool" else part, "time")
        self.enter(get.text(part, "id") or f"{id}/{self.position}", get.number(time, "start") or created)
        if _is_copied(id, created):
            self.tools_answered = self.tools_answered or kind == "tool"
        elif message.get("summary") is True or message.get("mode") == "compaction":
            return
        elif kind == "tool":
            call_id, tool = get.text(part, "callID", "id"), get.text(part, "tool")
            name = f"mcp_{tool}" if "_" in tool and tool not in _OWN_TOOLS else tool
            self.speak(id, "", [asked(call_id, name, get.mapping(state, "input"))])
            failed = state.get("status") == "error"
            if failed or state.get("status") == "completed":
                self.answer(call_id, get.answer(state.get("error" if failed else "output")), failed=failed)
        elif message.get("role") == "user":
            self._take_user_text(part)
        elif part.get("synthetic") is not True:
            self.speak(id, get.text(part, "text").strip())

    def _take_user_text(self, part: get.Json) -> None:
        text, is_shown = get.text(part, "text"), part.get("ignored") is not True
        if is_shown and part.get("synthetic") is not True:
            self.hear(text)
        elif is_shown and text.strip() and not text.lstrip().startswith(_NOTICES):
            self.answer(None, text, tool_name="attachment")


def _is_unfinished(part: get.Json) -> bool:
    if part.get("type") == "tool":
        return get.mapping(part, "state").get("status") in ("pending", "running")
    time = get.mapping(part, "time")
    return part.get("type") == "text" and "start" in time and "end" not in time


def _is_copied(message_id: str, created_ms: int | None) -> bool:
    """Tells whether a fork copied the message. An id says when it was made (the milliseconds of that modulo 2^36): a fork's messages get new ids, and
    keep their times. Times alone would not do: a clock may be set back (P24)."""
    made = _ID_TIME.match(message_id)
    if made is None or created_ms is None:
        return False
    later_ms = ((int(made[1], 16) >> 12) - created_ms) % (1 << _ID_TIME_BITS)
    return _COPIED_LATER_MS < later_ms < 1 << (_ID_TIME_BITS - 1)


class OpencodeSessions(db.SessionDatabases):
    """Reads an export that the entry names, else the databases in the roots."""

    harness_home, below = ("XDG_DATA_HOME", "~/.local/share"), ("opencode",)
    session, table = OpencodeSession, "session"

    def __init__(self, roots: files.Roots, database: str | None = None) -> None:
        """`database` is what `$OPENCODE_DB` names, an absolute path."""
        super().__init__(roots)
        self._database = database

    @classmethod
    def at(cls, given: files.Surroundings) -> Self:
        named = given.named("OPENCODE_DB")
        roots = given.roots(*cls.directories(given), *([os.path.dirname(named)] if named else []))
        return cls(roots, os.path.normpath(named) if named.startswith("/") else None)

    def databases(self, root: str) -> list[str]:
        """Returns the one that is named, where it is in this root, then that of no channel, then the others."""
        try:
            names = os.listdir(root)
        except (FileNotFoundError, NotADirectoryError):
            return []
        paths = [f"{root}/{name}" for name in sorted(names, key=lambda name: (name != "opencode.db", name))]
        named = [self._database] if self._database in paths else []
        return list(dict.fromkeys([*named, *(path for path in paths if _is_database(path))]))

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        if not files.is_session_id(session_id):
            raise HistoryUnreadable(session_id, "it is not the id of an opencode session")
        with files.looking_for(session_id):
            is_export = named is not None and not _is_database(named) and lies_there(named)
        if named is None or not is_export:
            return super().history(session_id, None, cwd, mark)
        with files.transcript(self.roots, named, session_id) as file:
            if file.size_bytes > MAX_LINE_BYTES:
                raise HistoryUnreadable(file.path, f"it is larger than {MAX_LINE_BYTES // 2**20} MiB")
            with open(file.descriptor, "rb", closefd=False) as opened:
                objects = objects_in(opened.read(MAX_LINE_BYTES)).found
        export = next((each for each in objects if isinstance(each.get("messages"), list)), None)
        if export is None or get.mapping(export, "info").get("id", session_id) != session_id:
            problem = f"it is not an export of this session; `opencode export {session_id}` prints one"
            raise HistoryUnreadable(file.path, problem)
        info, messages = get.mapping(export, "info"), get.objects(export, "messages")

        def fill(session: OpencodeSession) -> None:
            session.take_all(info, ((get.mapping(each, "info"), get.objects(each, "parts")) for each in messages))

        return files.filled(OpencodeSession(session_id), mark, fill).history()

    def sessions(self, database: db.Database) -> list[db.Listed]:
        """See `SessionDatabases`; a session with a parent is a sub-agent's."""
        said = "EXISTS (SELECT 1 FROM message WHERE session_id = session.id)"
        rows = database.rows(f"SELECT id, time_updated FROM session WHERE parent_id IS NULL AND {said}")
        return [(db.text_of(id), db.instant_of(at)) for id, at in rows]


def _is_database(path: str) -> bool:
    name = os.path.basename(path)
    return name == "opencode.db" or (name.startswith("opencode-") and name.endswith(".db"))
