"""goose (1.10 and later, schema versions up to 17): `sessions.db` in its data directory, for all sessions.

A row of `messages` is a message: `role`, `content_json`, `created_timestamp`, `metadata_json{userVisible, agentVisible}`. Blocks:
`text`, `image`, `toolRequest{id, toolCall{status, value{name, arguments}}}`, `toolResponse{id, toolResult{status,
value|error}}`, and some that say nothing. A person's words are the texts of user messages; what tools answered stands in user
messages too, and is theirs. What only the model saw (summaries at compaction, what they replaced) is left out, and so are
messages older than their session: those were copied, or imported from a file that anybody may have written (P19).
"""

from __future__ import annotations

import re

from attrs import evolve

from agent_memory.harness import any_json as get, databases as db
from agent_memory.harness.transcripts import Surroundings
from agent_memory.harness.turn_builder import Asked, asked
from agent_memory.note.note import Harness
from agent_memory.session.history import UNKNOWN_TYPE
from agent_memory.text.instants import ms_of
from agent_memory.text.json_shape import is_list, is_object

DATABASE = "sessions.db"

_HEADER = ("name", "description", "session_type", "created_at", "schedule_id", "model_config_json")
_NOT_OF_PERSONS = ("scheduled", "sub_agent", "hidden")
_REQUESTS = ("toolRequest", "frontendToolRequest")
_KNOWN_BLOCKS = (
    *("text", "image", "actionRequired", "toolResponse", *_REQUESTS, "thinking", "redactedThinking", "reasoning"),
    *("systemNotification", "toolConfirmationRequest", "conversationCompacted", "contextLengthExceeded"),
    "summarizationRequested",
)
_WRITES = ("write", "str_replace", "insert", "undo_edit", "edit", "create")
_COPIED_EARLIER_MS = 60_000
_OWN_TITLES = re.compile(r"(?:new session|cli session|untitled)\b", re.IGNORECASE)


class GooseSession(db.StoredSession):
    harness = Harness.GOOSE
    began_at_ms: int | None = None

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._proposed = set[str]()  # answers that MCP servers filled in themselves

    def take_from(self, database: db.Database) -> None:
        header = database.texts_of("sessions", self.session_id, _HEADER)
        self.known_records += 1
        title = get.text(header, "name", "description").strip()
        model = get.parsed_object(get.text(header, "model_config_json"))
        cwd = database.text("SELECT working_dir FROM sessions WHERE id = ?", self.session_id)
        self.note(title="" if _OWN_TITLES.match(title) else title, cwd=cwd)
        self.note(agent=get.text(model, "model_name", "model"))
        self.began_at_ms = self.started_at_ms = get.time(header, "created_at")
        self.automated = bool(get.text(header, "schedule_id")) or get.text(header, "session_type") in _NOT_OF_PERSONS
        columns = database.columns("messages")
        id_column = "message_id" if "message_id" in columns else "NULL"
        rows = f"SELECT id, role, created_timestamp, {id_column} FROM messages WHERE session_id = ? ORDER BY id"
        for number, role, created, id in database.rows(rows, self.session_id):
            content = database.value("SELECT content_json FROM messages WHERE id = ?", number)
            metadata: bytes | db.TooLarge | None = b"{}"
            if "metadata_json" in columns:
                metadata = database.value("SELECT metadata_json FROM messages WHERE id = ?", number) or b"{}"
            blocks = content if isinstance(content, db.TooLarge) else b'{"content": %s}' % (content or b"[]")
            message, about = db.one_object(self, blocks), db.one_object(self, metadata)
            if message is not None and about is not None:
                told = {"id": db.text_of(id), "created": created, "is_hidden": about.get("userVisible") is False}
                self._take_message(db.text_of(role), {**message, **told})
            if self.done:
                break

    def _take_message(self, role: str, value: get.Json) -> None:
        if role not in ("user", "assistant"):
            self.skip_unknown(f"role {role}")
            return
        if not is_list(value["content"]):
            self.skip("bad-record")
            return
        self.known_records += 1
        created = get.number(value, "created") or 0
        # Made of what the message says: compaction gives all of a session's messages new numbers, and old ones have no id.
        at_ms = get.instant(value, "created")
        is_older = at_ms is not None and self.began_at_ms is not None and at_ms < self.began_at_ms - _COPIED_EARLIER_MS
        self.enter(f"{created}-{get.digest(role, repr(value['content']))}", at_ms)
        if value["is_hidden"] or is_older:
            return
        blocks, of_user = get.objects(value, "content"), role == "user"
        actions = [get.mapping(each, "data") for each in blocks]
        schemas = (get.mapping(each, key) for each in actions for key in ("requestedSchema", "requested_schema"))
        fields = (each for schema in schemas for each in get.mapping(schema, "properties").values())
        self._proposed.update(get.text(each, "default") for each in fields if is_object(each))
        if of_user and (typed := "\n\n".join(filter(None, map(self._typed, blocks)))):
            self.hear(typed)
        elif not of_user:
            calls = [_asked(block) for block in blocks if block.get("type") in _REQUESTS]
            self.speak(get.text(value, "id") or None, "\n\n".join(get.block_texts(blocks)), calls)
        for block in blocks:
            kind, result = block.get("type"), get.mapping(block, "toolResult")
            if of_user and kind == "toolResponse":
                failed = result.get("status") == "error" or get.mapping(result, "value").get("isError") is True
                self.answer(get.text(block, "id") or None, _result_text(result), failed=failed)
            elif kind not in _KNOWN_BLOCKS:
                self.skip(f"{UNKNOWN_TYPE}{kind}")

    def _typed(self, block: get.Json) -> str:
        kind = block.get("type")
        if kind == "text":
            return get.text(block, "text")
        if kind == "image":
            return "[image]"
        action = get.mapping(block, "data")
        if kind == "actionRequired" and action.get("actionType") == "elicitationResponse":
            answers = (get.mapping(action, "userData") or get.mapping(action, "user_data")).values()
            return "\n".join(answer for answer in answers if isinstance(answer, str) and answer not in self._proposed)
        return ""


def _asked(block: get.Json) -> Asked:
    call = get.mapping(block, "toolCall")
    wanted = get.mapping(call, "value") or get.mapping(call, "Ok") or call
    name, arguments = get.text(wanted, "name"), get.mapping(wanted, "arguments")
    if not name.endswith("text_editor"):
        return asked(get.text(block, "id"), name, arguments)
    # Its `command` is what it does with the file, no shell's.
    made = asked(get.text(block, "id"), name, {key: value for key, value in arguments.items() if key != "command"})
    writes = get.text(arguments, "command") in _WRITES
    return evolve(made, calls=(evolve(made.calls[0], writes=writes), *made.calls[1:]))


def _result_text(result: get.Json) -> str:
    if result.get("status") == "error":
        return get.answer(result.get("error"))
    value = result.get("value", result.get("Ok"))
    content = get.items(value, "content") if is_object(value) else value
    items = content if is_list(content) else [content]
    # One text for the model and one for the screen, often the same.
    audiences = [get.items(get.mapping(item, "annotations"), "audience") if is_object(item) else [] for item in items]
    for_model = [
        item for item, audience in zip(items, audiences, strict=True) if "assistant" in (audience or ["assistant"])
    ]
    return get.answer(for_model or items)


class GooseSessions(db.SessionDatabases):
    """Reads `sessions.db` in each of the roots. Scheduled sessions, sub-agents' and hidden ones are automated."""

    harness_home, below = ("XDG_DATA_HOME", "~/.local/share"), ("goose/sessions",)
    session, file_name, table = GooseSession, DATABASE, "sessions"

    @classmethod
    def directories(cls, given: Surroundings) -> list[str]:
        own = given.named("GOOSE_PATH_ROOT")
        return [*([f"{own}/data/sessions"] if own else []), *super().directories(given)]

    def sessions(self, database: db.Database) -> list[db.Listed]:
        there = database.columns("sessions")
        further = (name if name in there else "NULL" for name in ("session_type", "schedule_id"))
        said = "EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)"
        rows = database.rows(f"SELECT id, updated_at, {', '.join(further)} FROM sessions WHERE {said}")
        return [
            (db.text_of(id), ms_of(db.text_of(updated)[:40]))
            for id, updated, kind, schedule in rows
            if db.text_of(kind) not in _NOT_OF_PERSONS and not db.text_of(schedule)
        ]
