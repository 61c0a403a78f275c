"""A Cursor conversation as turns, from the lines of its transcript, in bounded memory.

A line: `{"role": "user" | "assistant", "message": {"content": [block, …]}}`, or `{"type": "turn_ended", "status"}`. Lines have
no ids and no times; most versions keep no answers of tools. After a compaction the prompt at work is written once more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import blake2b

from attrs import evolve

from agent_memory.adapters.harness.any_json import answer_text, mapping_at, text_at
from agent_memory.adapters.harness.cursor_calls import arguments_in, cursor_call
from agent_memory.adapters.harness.cursor_texts import Query, typed_query
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Asked, NewFrom
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.vocabulary import Harness

UNSEEN_ANSWERS = "[Cursor keeps no record of what its tools answered]"
"""Stands once, where the first answer would: what the agent says from there on may come from a page (P19)."""

_CALLS = ("tool_use", "tool_call", "tool-call")
_RESULTS = ("tool_result", "tool-result")
_SILENT_BLOCKS = ("thinking", "redacted_thinking", "reasoning")
_REDACTED = "[REDACTED]"
_PENDING_CALLS = 1_000
_PROMPT_CHARS = 20_000


class CursorSession:
    """Takes the lines of one transcript in order; `history` is what they say."""

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self.facts = SessionFacts(Harness.CURSOR, session_id)
        self.prompts = 0
        """How often a person, or what stands in a person's place, spoke."""
        self.first_prompt = ""
        self._ordinal = 0
        self._at_ms: int | None = None
        self._tags_expected = False
        self._last_prompt = b""
        self._mid_turn = False
        """The agent called a tool, and the turn has not ended since."""
        self._pending: deque[str] = deque(maxlen=_PENDING_CALLS)
        self._answers_due = False
        self._answers_seen = False
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next line."""
        self._ordinal += 1
        role, content = value.get("role"), mapping_at(value, "message").get("content")
        if role not in ("user", "assistant"):
            self._take_sign(value)
        elif not isinstance(content, str) and not is_list(content):
            self.turns.skip("bad-record")
        else:
            blocks: list[object] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            self._take_message(role == "user", [block for block in blocks if is_object(block)])

    def history(self) -> History:
        """The new turns."""
        return history_of(self.facts, self.turns, remaining=self._full)

    # -- lines --------------------------------------------------------------------------------------------------------

    def _take_sign(self, value: Mapping[str, object]) -> None:
        if value.get("type") == "turn_ended":
            self.turns.count(known=True)
            self.turns.enter(self._record_id("turn_ended"), self._at_ms)
            self._tell_of_unseen_answers()
            self.turns.leave()
            self._mid_turn = False
        else:
            self.turns.skip_unknown(value.get("type") or f"role {value.get('role')}")

    def _take_message(self, of_user: bool, blocks: list[Mapping[str, object]]) -> None:
        results = [block for block in blocks if block.get("type") in _RESULTS]
        if self.turns.has_enough and not results:
            self._full = True
            return
        self.turns.count(known=True)
        query = self._query(blocks) if of_user else Query()
        self._at_ms = query.at_ms or self._at_ms
        self.facts.started(self._at_ms)
        self.turns.enter(self._record_id(f"{of_user}{blocks!r}"), self._at_ms)
        if not results:
            self._tell_of_unseen_answers()
        for block in results:
            self._take_result(block)
        if of_user:
            self._take_query(query, blocks, only_results=len(results) == len(blocks))
        else:
            self._take_answer(blocks)
        for block in blocks:
            if block.get("type") not in ("text", "image", *_CALLS, *_RESULTS, *_SILENT_BLOCKS):
                self.turns.skip(f"{UNKNOWN_TYPE}block {block.get('type')}")
        self.turns.leave()

    def _query(self, blocks: list[Mapping[str, object]]) -> Query:
        texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
        query = typed_query(*texts, tags_expected=self._tags_expected)
        self._tags_expected = self._tags_expected or query.tagged
        images = ["[image]" for block in blocks if block.get("type") == "image"] if query.text or not texts else []
        return evolve(query, text="\n\n".join(filter(None, [query.text, *images])))

    def _take_query(self, query: Query, blocks: list[Mapping[str, object]], *, only_results: bool) -> None:
        if only_results or self.turns.begins_with_own_prompt(query.raw):
            return
        if not query.text:
            self.turns.skip("injected")
            return
        written = blake2b(repr(blocks).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if written == self._last_prompt and self._mid_turn:
            self.turns.skip("repeated-prompt")
            return
        self._last_prompt, self._mid_turn = written, False
        self._pending.clear()
        self.prompts += 1
        self.first_prompt = self.first_prompt or query.raw[:_PROMPT_CHARS]
        self.turns.say(Role.USER, query.text, raw=query.raw)

    def _take_answer(self, blocks: list[Mapping[str, object]]) -> None:
        texts = (_visible(text_at(block, "text")) for block in blocks if block.get("type") == "text")
        calls = [self._call(block) for block in blocks if block.get("type") in _CALLS]
        text = "\n\n".join(filter(None, texts))
        if text or calls:
            self.turns.speak(None, text, calls)
            self._mid_turn = bool(calls)
        self._answers_due = self._answers_due or bool(calls)

    def _call(self, block: Mapping[str, object]) -> Asked:
        call_id = text_at(block, "id") or f"{self._ordinal}.{len(self._pending)}"
        self._pending.append(call_id)
        return cursor_call(call_id, text_at(block, "name"), arguments_in(block.get("input")))

    def _take_result(self, block: Mapping[str, object]) -> None:
        call_id = text_at(block, "tool_use_id")
        if not self.turns.awaits(call_id) and self._pending:  # answers come in the order of the calls
            call_id = self._pending.popleft()
        failed = block.get("is_error") is True
        name = text_at(block, "name") or None
        self.turns.answer(call_id, answer_text(block.get("content")), tool_name=name, failed=failed)
        self._answers_due, self._answers_seen = False, True

    def _tell_of_unseen_answers(self) -> None:
        if self._answers_due and not self._answers_seen:
            self.turns.answer(None, UNSEEN_ANSWERS)
            self._answers_seen = True
        self._answers_due = False

    def _record_id(self, content: str) -> str:
        """Lines have no ids: the place of this one, and what it says."""
        return f"{self._ordinal}-{blake2b(content.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def _visible(text: str) -> str:
    """Without what stands for the agent's thoughts."""
    return text.strip().removesuffix(_REDACTED).strip()
