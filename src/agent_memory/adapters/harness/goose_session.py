"""A goose session as turns, assembled message by message in bounded memory.

The format is goose's own (seen: schema versions up to 17): `{id?, role, created, content[], metadata{userVisible,
agentVisible}}`, one a line in the files of versions before 1.10, a row each in the database since. Blocks: `text`, `image`,
`toolRequest{id, toolCall{status, value{name, arguments}}}`, `toolResponse{id, toolResult{status, value|error}}`, and some
that say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b

from attrs import evolve

from agent_memory.adapters.harness.any_json import answer_text, list_at, mapping_at, number_at, objects_at, text_at
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Asked, NewFrom, asked
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.vocabulary import Harness

_SILENT_BLOCKS = frozenset(
    (
        *("thinking", "redactedThinking", "reasoning", "systemNotification", "toolConfirmationRequest"),
        *("conversationCompacted", "contextLengthExceeded", "summarizationRequested"),
    )
)
_REQUESTS = ("toolRequest", "frontendToolRequest")
_WRITES = ("write", "str_replace", "insert", "undo_edit", "edit", "create")
NOT_OF_PERSONS = ("scheduled", "sub_agent", "hidden")
_OWN_TITLES = re.compile(r"(?:new session|cli session|untitled)\b", re.IGNORECASE)
_MS_FROM = 10_000_000_000
"""Times from here on are milliseconds, below it seconds."""


class GooseSession:
    """Takes a session's header, and its messages in order; `history` is what they say."""

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._facts = SessionFacts(Harness.GOOSE, session_id)
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    def take_object(self, value: Mapping[str, object]) -> None:
        """The session's header, or its next message."""
        if "role" not in value and ("working_dir" in value or "message_count" in value):
            self.turns.count(known=True)
            self._take_header(value)
        elif value.get("role") not in ("user", "assistant"):
            self.turns.skip_unknown(f"role {value.get('role')}")
        elif not is_list(value.get("content")):
            self.turns.skip("bad-record")
        elif self.turns.has_enough and self._begins_turn(value):
            self._full = True
        else:
            self.turns.count(known=True)
            self._take_message(value)

    def history(self) -> History:
        """The new turns."""
        return history_of(self._facts, self.turns, remaining=self._full)

    def _take_header(self, value: Mapping[str, object]) -> None:
        facts = self._facts
        title = text_at(value, "name", "description").strip()
        facts.title = title if title and not _OWN_TITLES.match(title) else facts.title
        facts.cwd = text_at(value, "working_dir") or facts.cwd
        facts.agent = text_at(mapping_at(value, "model_config"), "model_name", "model") or facts.agent
        facts.started(ms_of(text_at(value, "created_at")[:40]))
        scheduled = bool(text_at(value, "schedule_id"))
        facts.automated = facts.automated or scheduled or text_at(value, "session_type") in NOT_OF_PERSONS

    def _take_message(self, value: Mapping[str, object]) -> None:
        at_ms = _at_ms(number_at(value, "created"))
        self._facts.started(at_ms)
        self.turns.enter(_record_id(value), at_ms)
        if mapping_at(value, "metadata").get("userVisible") is False:
            # A summary for the model, or what one replaced: nobody saw it.
            self.turns.skip("not-visible")
        elif value.get("role") == "user":
            self._take_user(objects_at(value, "content"))
        else:
            self._take_agent(objects_at(value, "content"), text_at(value, "id") or None)
        self.turns.leave()

    def _take_user(self, blocks: list[Mapping[str, object]]) -> None:
        typed = "\n\n".join(filter(None, (_typed(block) for block in blocks)))
        if typed and not self.turns.begins_with_own_prompt(typed):
            text = typed_words(typed)
            if text:
                self.turns.say(Role.USER, text, raw=typed)
        for block in blocks:
            if block.get("type") == "toolResponse":
                result = mapping_at(block, "toolResult")
                failed = result.get("status") == "error" or mapping_at(result, "value").get("isError") is True
                self.turns.answer(text_at(block, "id") or None, _result_text(result), failed=failed)
            else:
                self._note_block(block)

    def _take_agent(self, blocks: list[Mapping[str, object]], message_id: str | None) -> None:
        texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
        calls = [_asked(block) for block in blocks if block.get("type") in _REQUESTS]
        text = "\n\n".join(text for text in texts if text.strip())
        if text or calls:
            self.turns.speak(message_id, text, calls)
        for block in blocks:
            self._note_block(block)

    def _note_block(self, block: Mapping[str, object]) -> None:
        kind = block.get("type")
        if kind not in ("text", "image", "actionRequired", "toolResponse", *_REQUESTS, *_SILENT_BLOCKS):
            self.turns.skip(f"{UNKNOWN_TYPE}{kind}")

    def _begins_turn(self, value: Mapping[str, object]) -> bool:
        if value.get("role") == "user":
            answers = [block for block in objects_at(value, "content") if block.get("type") == "toolResponse"]
            return not any(self.turns.awaits(text_at(block, "id")) for block in answers)
        message_id = text_at(value, "id")
        return not message_id or message_id != self.turns.message_id


def _typed(block: Mapping[str, object]) -> str:
    """What the person put into a message with this block."""
    kind = block.get("type")
    if kind == "text":
        return text_at(block, "text")
    if kind == "image":
        return "[image]"
    action = mapping_at(block, "data")
    if kind == "actionRequired" and action.get("actionType") == "elicitationResponse":
        answers = (mapping_at(action, "userData") or mapping_at(action, "user_data")).values()
        return "\n".join(answer for answer in answers if isinstance(answer, str))
    return ""


def _asked(block: Mapping[str, object]) -> Asked:
    call = mapping_at(block, "toolCall")
    wanted = mapping_at(call, "value") or mapping_at(call, "Ok") or call
    name, arguments = text_at(wanted, "name") or "unknown", mapping_at(wanted, "arguments")
    if not name.endswith("text_editor"):
        return asked(text_at(block, "id"), name, arguments)
    # Its `command` is what it does with the file, no shell's.
    action = text_at(arguments, "command")
    made = asked(text_at(block, "id"), name, {key: value for key, value in arguments.items() if key != "command"})
    return evolve(made, call=evolve(made.call, writes=action in _WRITES))


def _result_text(result: Mapping[str, object]) -> str:
    if result.get("status") == "error":
        return answer_text(result.get("error"))
    value = result.get("value", result.get("Ok"))
    content = list_at(value, "content") if is_object(value) else value
    items = content if is_list(content) else [content]
    # One text for the model and one for the screen, often the same.
    for_model = [item for item in items if "assistant" in (_audience(item) or ["assistant"])]
    return "\n".join(filter(None, (_item_text(item) for item in for_model or items)))


def _audience(item: object) -> list[object] | None:
    return (list_at(mapping_at(item, "annotations"), "audience") or None) if is_object(item) else None


def _item_text(item: object) -> str:
    if is_object(item):
        if item.get("type") == "image":
            return "[image]"
        if item.get("type") == "resource":
            return text_at(mapping_at(item, "resource"), "text")
        return text_at(item, "text")
    return answer_text(item)


def _record_id(value: Mapping[str, object]) -> str:
    """Made of what the message says: compaction gives all of a session's messages new numbers, and old ones have no id."""
    said = f"{value.get('role')}\0{value.get('content')!r}".encode("utf-8", "surrogatepass")
    return f"{number_at(value, 'created') or 0}-{blake2b(said, digest_size=10).hexdigest()}"


def _at_ms(created: int | None) -> int | None:
    if created is None or created <= 0:
        return None
    return created if created >= _MS_FROM else created * 1000
