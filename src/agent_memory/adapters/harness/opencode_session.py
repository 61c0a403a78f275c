"""An opencode session as turns, assembled part by part in bounded memory.

The format is opencode's own (1.0 to 1.18 seen), the same in its export, its database and its older files: a session, its
messages, and the parts of each. Parts: `text{text, synthetic?, ignored?, time?}`, `tool{tool, callID, state{status, input,
output, error, time}}`, and some that say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from attrs import define

from agent_memory.adapters.harness.any_json import answer_text, mapping_at, number_at, text_at
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import NewFrom, asked
from agent_memory.domain.history import History, Role
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.vocabulary import Harness

Kind = Literal["session", "message", "part"]

_SILENT_PARTS = frozenset(
    (
        *("step-start", "step-finish", "snapshot", "patch", "reasoning", "file", "agent", "retry", "subtask"),
        *("compaction", "todo"),
    )
)
_OWN_TITLES = re.compile(r"(?:new|child) session - ", re.IGNORECASE)
_NOTICES = (
    *("<system-reminder>", "Called the ", "Continue if you have next steps", "Summarize the task tool output"),
    *("The following tool was executed by the user", "Reading MCP resource: "),
)
"""How the texts begin that opencode itself puts into a person's message; the others it puts there are files and pages."""

_ID_TIME = re.compile(r"msg_([0-9a-f]{12})", re.ASCII)
_ID_TIME_BITS = 36
_COPIED_LATER_MS = 60_000


@define
class _Message:
    """The message whose parts come now."""

    id: str
    of_user: bool
    at_ms: int | None
    copied: bool
    """From another session, by a fork."""
    summary: bool
    """What a compaction left of all before it."""


class OpencodeSession:
    """Takes a session, then its messages in order, each followed by its parts; `history` is what they say.

    A part is a record. One that is still being written is left for the next time, unless something follows it. Left out,
    and counted: what a revert took back, what a fork copied, summaries, opencode's own texts.
    """

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._facts = SessionFacts(Harness.OPENCODE, session_id)
        self._message: _Message | None = None
        self._held: tuple[_Message, Mapping[str, object]] | None = None
        self._reverted: tuple[str, str] = ("", "")
        self._ended = False
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, it is our own call, or what comes was taken back."""
        return self._full or self._ended or self.turns.own_call

    def take(self, kind: Kind, value: Mapping[str, object]) -> None:
        """The next object; each has its `id` in it."""
        if kind == "session":
            self._take_session(value)
        elif kind == "message":
            self._take_message(value)
        elif self._message is not None and not self.done:
            self._take_part(self._message, value)

    def take_object(self, value: Mapping[str, object]) -> None:
        """The same as one object with one member, which says its kind."""
        for kind in ("session", "message", "part"):
            if is_object(inner := value.get(kind)):
                self.take(kind, inner)

    def history(self) -> History:
        """The new turns."""
        if self._held is not None and not self.done:
            self.turns.skip("unfinished-part")
        return history_of(self._facts, self.turns, remaining=self._full)

    # -- sessions and messages ----------------------------------------------------------------------------------------

    def _take_session(self, value: Mapping[str, object]) -> None:
        self.turns.count(known=True)
        facts, title = self._facts, text_at(value, "title")
        facts.title = title if title and not _OWN_TITLES.match(title) else None
        facts.cwd = text_at(value, "directory") or None
        facts.started(number_at(mapping_at(value, "time"), "created"))
        # A session with a parent is a sub-agent's: its last words are the answer of a tool in the parent.
        facts.automated = bool(text_at(value, "parentID"))
        revert = mapping_at(value, "revert")
        self._reverted = (text_at(revert, "messageID"), text_at(revert, "partID"))

    def _take_message(self, value: Mapping[str, object]) -> None:
        role, id = value.get("role"), text_at(value, "id")
        self._message = None
        self._release()
        if role not in ("user", "assistant"):
            self.turns.skip_unknown(f"role {role}")
            return
        if id and self._reverted == (id, ""):
            self._end()
            return
        self.turns.count(known=True)
        created = number_at(mapping_at(value, "time"), "created")
        copied = _is_copied(id, created)
        summary = value.get("summary") is True or value.get("mode") == "compaction"
        self._message = _Message(id, role == "user", created, copied, summary)
        self._facts.started(created)
        self._facts.cwd = self._facts.cwd or text_at(mapping_at(value, "path"), "cwd") or None
        self._facts.agent = text_at(value, "modelID") or self._facts.agent

    def _end(self) -> None:
        self.turns.skip("reverted")
        self._ended = True

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, message: _Message, part: Mapping[str, object]) -> None:
        if self._reverted[1] and self._reverted == (message.id, text_at(part, "id")):
            self._end()
            return
        self._release()
        if not self.done:
            if _is_unfinished(part):
                self._held = (message, part)
            else:
                self._add_part(message, part)

    def _release(self) -> None:
        """What was held back is followed by something: it will not go on."""
        held, self._held = self._held, None
        if held is not None and not self.done:
            self._add_part(*held)

    def _add_part(self, message: _Message, part: Mapping[str, object]) -> None:
        kind = text_at(part, "type")
        if kind in _SILENT_PARTS:
            self.turns.count(known=True)
        elif kind not in ("text", "tool"):
            self.turns.skip_unknown(f"part {kind}")
        elif message.copied:
            self._facts.tools_answered = self._facts.tools_answered or kind == "tool"
            self.turns.skip("forked-history")
        elif message.summary:
            self.turns.skip("compact-summary")
        elif self.turns.has_enough and (message.of_user or message.id != self.turns.message_id):
            self._full = True
        else:
            self._say(message, part)

    def _say(self, message: _Message, part: Mapping[str, object]) -> None:
        self.turns.count(known=True)
        self.turns.enter(text_at(part, "id") or f"{message.id}/{self.turns.position}", _time_of(part) or message.at_ms)
        if part.get("type") == "tool":
            self._take_tool(message, part)
        elif message.of_user:
            self._take_user_text(part)
        elif text_at(part, "text").strip() and part.get("synthetic") is not True:
            self.turns.speak(message.id, text_at(part, "text").strip())
        self.turns.leave()

    def _take_user_text(self, part: Mapping[str, object]) -> None:
        text = text_at(part, "text")
        if part.get("ignored") is True or not text.strip():
            self.turns.skip("empty" if not text.strip() else "ignored")
        elif part.get("synthetic") is not True:
            typed = typed_words(text)
            if typed and not self.turns.begins_with_own_prompt(text):
                self.turns.say(Role.USER, typed, raw=text)
        elif text.lstrip().startswith(_NOTICES):
            self.turns.skip("synthetic")
        else:
            self.turns.say(Role.TOOL, text, tool_name="attachment")

    def _take_tool(self, message: _Message, part: Mapping[str, object]) -> None:
        state = mapping_at(part, "state")
        call_id = text_at(part, "callID") or text_at(part, "id")
        call = asked(call_id, text_at(part, "tool") or "unknown", mapping_at(state, "input"))
        self.turns.speak(message.id, "", [call])
        failed = state.get("status") == "error"
        if failed or state.get("status") == "completed":
            answer = state.get("error") if failed else state.get("output")
            self.turns.answer(call_id, answer_text(answer), failed=failed)


def _is_unfinished(part: Mapping[str, object]) -> bool:
    if part.get("type") == "tool":
        return mapping_at(part, "state").get("status") in ("pending", "running")
    time = mapping_at(part, "time")
    return part.get("type") == "text" and "start" in time and "end" not in time


def _time_of(part: Mapping[str, object]) -> int | None:
    time = mapping_at(mapping_at(part, "state") if part.get("type") == "tool" else part, "time")
    return number_at(time, "start")


def _is_copied(message_id: str, created_ms: int | None) -> bool:
    """An id says when it was made (the milliseconds of that modulo 2^36): a fork's messages get new ids, and keep their
    times. Times alone would not do: a clock may be set back (P24)."""
    made = _ID_TIME.match(message_id)
    if made is None or created_ms is None:
        return False
    later_ms = ((int(made[1], 16) >> 12) - created_ms) % (1 << _ID_TIME_BITS)
    return _COPIED_LATER_MS < later_ms < 1 << (_ID_TIME_BITS - 1)
