"""A Gemini CLI session as turns, assembled message by message in bounded memory.

Both forms hold the same messages: before 0.40 one JSON document, since then one object a line, where a message that comes
again has grown, `$set` changes facts (and may list all messages as they are after a compression), and `$rewindTo` takes
back a message and all that came after it. A tool's answer is part of the message that called it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from agent_memory.adapters.harness.any_json import answer_text, list_at, mapping_at, objects_at, text_at
from agent_memory.adapters.harness.place_map import PlaceMap
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Draft, NewFrom, asked
from agent_memory.domain.history import History, Role
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.domain.vocabulary import Harness

_TIME_CHARS = 40
_MAX_CALLS = 500
_TOLD = ("user", "gemini")
_NOTICES = ("info", "warning", "error")
_FAILED = ("error", "cancelled")
_ENDED = ("success", *_FAILED)


class GeminiSession:
    """Takes the objects of one session in file order; `history` is what they say, without what was taken back."""

    def __init__(
        self, session_id: str, new_from: NewFrom, cwd: str | None = None, taken_back: Spans | None = None
    ) -> None:
        """`taken_back`, where it is known from a reading before, are the messages that will be taken back."""
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self.taken_back = Spans()
        """Messages by their place."""
        self._known_taken_back = taken_back
        self._places = PlaceMap()
        self._pieces = IdSet()
        self._facts = _Facts(cwd)
        self.full = False
        """Enough is kept; the messages from here on are for another fetch."""

    @property
    def done(self) -> bool:
        """What is taken back is only known at the end of the file, unless it was read before."""
        return self.turns.own_call or (self.full and self._known_taken_back is not None)

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object of the file."""
        if "$set" in value:
            self._change(mapping_at(value, "$set"))
        elif "$rewindTo" in value:
            self._rewind(text_at(value, "$rewindTo"))
        elif "type" in value or "id" in value:
            self._take(value, recorded=True)
        elif "sessionId" in value:
            self._begin(value)
        else:
            self.turns.skip("bad-record")

    def history(self) -> History:
        """The new turns."""

        def left_out(draft: Draft) -> str | None:
            return "rewound" if draft.branch in self.taken_back else None

        facts = self._facts
        told = SessionFacts(
            harness=Harness.GEMINI,
            session_id=self.session_id,
            title=facts.title,
            cwd=facts.cwd,
            agent=facts.model,
            started_at_ms=facts.started_at_ms,
            automated=facts.sub_agent,
        )
        return history_of(told, self.turns, left_out, remaining=self.full)

    # -- objects ------------------------------------------------------------------------------------------------------

    def _begin(self, value: Mapping[str, object]) -> None:
        self.turns.count(known=True)
        if text_at(value, "sessionId") not in ("", self.session_id):
            self.turns.skip("session-id-mismatch")
        self._facts.note(value)
        for message in objects_at(value, "messages"):
            self._take(message, recorded=True)

    def _change(self, facts: Mapping[str, object]) -> None:
        self.turns.count(known=True)
        self._facts.note(facts)
        recorded = len(self._places) == 0
        for message in objects_at(facts, "messages"):
            self._take(message, recorded=recorded)

    def _rewind(self, id: str) -> None:
        self.turns.count(known=True)
        place = self._places.get(id)
        if place is None:
            self.turns.skip("rewind-not-found")
        else:
            self.taken_back.add(place, len(self._places))
            self.turns.end_message()

    def _take(self, message: Mapping[str, object], *, recorded: bool) -> None:
        """One message, for the first time or grown. One that was not `recorded` when it was said is known from a list of
        what the model is shown: nobody knows who said it."""
        kind, id = text_at(message, "type"), text_at(message, "id")
        if kind in _NOTICES:
            self.turns.count(known=True)
            self.turns.skip("notice")
            return
        if kind not in _TOLD or not id:
            self.turns.skip_unknown(kind or "message")
            return
        self.turns.count(known=True)
        place = self._places.get(id)
        if place is None:
            place = len(self._places)
            self._places.put(id, place)
            self.full = self.full or self.turns.has_enough
        if self.full:
            return
        self._facts.note_message(message)
        at_ms = ms_of(text_at(message, "timestamp")[:_TIME_CHARS])
        if kind == "user":
            self._hear(message, id, place, at_ms, recorded=recorded)
        else:
            self._speak(message, id, place, at_ms)

    # -- messages -----------------------------------------------------------------------------------------------------

    def _hear(self, message: Mapping[str, object], id: str, place: int, at_ms: int | None, *, recorded: bool) -> None:
        if not self._pieces.add(id):
            return
        raw = parts_text(message.get("displayContent")) or parts_text(message.get("content"))
        typed = typed_text(raw)
        self.turns.enter(id, at_ms)
        if recorded and self.turns.begins_with_own_prompt(raw):
            return
        if not typed.text:
            self.turns.skip(typed.left_out or "empty")
        elif recorded:
            self.turns.say(Role.USER, typed.text, branch=place)
        else:
            self.turns.say(Role.TOOL, typed.text, branch=place, tool_name="history")
        self._leave(place)

    def _speak(self, message: Mapping[str, object], id: str, place: int, at_ms: int | None) -> None:
        text = parts_text(message.get("content"))
        if text.strip() and self._pieces.add(id):
            self.turns.enter(id, at_ms)
            self.turns.speak(id, text, branch=place)
            self._leave(place)
        for call in objects_at(message, "toolCalls")[:_MAX_CALLS]:
            self._call(call, id, place, at_ms)

    def _call(self, call: Mapping[str, object], message_id: str, place: int, at_ms: int | None) -> None:
        """One call and, once there is one, its answer: each is a piece of its own, since a message may be consolidated
        between them."""
        call_id = f"{message_id}/{text_at(call, 'id') or text_at(call, 'name')}"
        name = text_at(call, "name") or "unknown"
        called = asked(call_id, name, mapping_at(call, "args"))
        if self._pieces.add(call_id):
            self.turns.enter(call_id, at_ms)
            self.turns.speak(message_id, "", [called], branch=place)
            self._leave(place)
        status = text_at(call, "status")
        if status in _ENDED and self._pieces.add(f"{call_id}="):
            ended_ms = ms_of(text_at(call, "timestamp")[:_TIME_CHARS])
            self.turns.enter(f"{call_id}=", at_ms if ended_ms is None else ended_ms)
            self.turns.answer(call_id, _answer_in(call), tool_name=name, failed=status in _FAILED, branch=place)
            self._leave(place)

    def _leave(self, place: int) -> None:
        if self._known_taken_back is not None and place in self._known_taken_back:
            self.turns.skip("rewound", self.turns.take_back())
        self.turns.leave()


@define
class Spans:
    """Places that were taken back: spans that do not touch, in order."""

    begins: list[int] = field(factory=list[int])
    ends: list[int] = field(factory=list[int])

    def add(self, begin: int, end: int) -> None:
        """From `begin` up to before `end`, beyond which there is none yet."""
        while self.begins and self.begins[-1] >= begin:
            del self.begins[-1], self.ends[-1]
        if self.ends and self.ends[-1] >= begin:
            self.ends[-1] = end
        else:
            self.begins.append(begin)
            self.ends.append(end)

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self.begins, place) - 1
        return at >= 0 and place < self.ends[at]


@define
class _Facts:
    """What the objects say about the session as a whole."""

    cwd: str | None
    title: str | None = None
    model: str | None = None
    started_at_ms: int | None = None
    sub_agent: bool = False

    def note(self, facts: Mapping[str, object]) -> None:
        if self.started_at_ms is None:
            self.started_at_ms = ms_of(text_at(facts, "startTime")[:_TIME_CHARS])
        self.title = text_at(facts, "summary").strip() or self.title
        self.sub_agent = self.sub_agent or text_at(facts, "kind") == "subagent"
        directories = [each for each in list_at(facts, "directories") if isinstance(each, str)]
        self.cwd = self.cwd or (directories[0] if directories else None)

    def note_message(self, message: Mapping[str, object]) -> None:
        self.model = text_at(message, "model") or self.model


def _answer_in(call: Mapping[str, object]) -> str:
    """What the tool answered to the model; else what it showed to the person."""
    return "\n".join(filter(None, _answers_in(call))) or text_at(call, "resultDisplay")


def _answers_in(call: Mapping[str, object]) -> Iterator[str]:
    result = call.get("result")
    for part in result if is_list(result) else [result]:
        if is_object(part):
            response = mapping_at(mapping_at(part, "functionResponse"), "response")
            yield text_at(response, "output", "error") or (answer_text(response) if response else text_at(part, "text"))
        elif isinstance(part, str):
            yield part


# A command is one word without a slash in it: a path may begin a sentence.
_COMMAND = re.compile(r"(?:/[A-Za-z?][\w:.-]*|\?)(?=\s|\Z)")
_INJECTED = ("Here is the user's editor context", "I ran the following shell command:\n```")
_FILES = "--- Content from referenced files ---"
"""Stands after what was typed; the files follow to the end."""


@frozen
class Typed:
    """What is left of a text; where nothing is, `left_out` says what it was."""

    text: str = ""
    left_out: str | None = None


def parts_text(content: object) -> str:
    """The text of a message: a text, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if is_list(content) else [content]
    texts = (
        part if isinstance(part, str) else text_at(part, "text")
        for part in parts
        if isinstance(part, str) or is_object(part)
    )
    return "\n".join(text for text in texts if text)


def typed_text(raw: str) -> Typed:
    """What the person typed: without what hooks, the CLI or memory added, and without the files that were named in it. A
    command to the CLI itself is left out."""
    if _COMMAND.match(raw.strip()):
        return Typed(left_out="command")
    text = typed_words(raw.partition(_FILES)[0])
    if not text or text.startswith(_INJECTED):
        return Typed(left_out="harness-text" if raw.strip() else "empty")
    return Typed(text)
