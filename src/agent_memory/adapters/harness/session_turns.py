"""The turns of one session, assembled record by record in bounded memory (P25): what all line-based transcripts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from attrs import define

from agent_memory.adapters.harness.turn_drafts import Asked, Draft, NewFrom, size_of, turn_of
from agent_memory.domain.history import UNKNOWN_TYPE, Role, ToolCall, Turn
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.own_marks import (
    MEMORY_OUTPUT_PLACEHOLDER,
    is_own_prompt,
    machine_text,
    shows_an_entry,
    without_own_output,
)
from agent_memory.domain.transcripts.turns import MAX_KEPT_BYTES, TURN_BYTES, Excerpt, text_limit

_OPEN_CALLS = 5_000
_MAX_REASONS = 60
_REASON_CHARS = 80
_RECORD_BYTES = 150
_CALL_BYTES = 400
MAX_CALLS_PER_TURN = 1_000


@define
class _Message:
    """The agent's message that the last agent turn is made from; its parts may come in records of their own, with tools'
    answers between them."""

    id: str | None
    number: int
    draft: Draft | None
    """None where all of it so far was there before the mark."""


class SessionTurns:
    """Takes what the records of one session say, in file order: `enter` a record, add its turns, `leave` it.

    Turns are numbered over the whole session, those before the mark and those left out later included, so that a number
    always means the same turn. Of a message that began before the mark only the rest is returned, under the number of its
    turn. `branch` is any number by which a harness's own module will know again what was rewound away.
    """

    def __init__(self, new_from: NewFrom) -> None:
        self._new_from = new_from
        self._record_id = ""
        self._at_ms: int | None = None
        self._kept_bytes = 0
        self._before = (0, 0)
        """How many drafts there were before the record at hand, and what was kept."""
        self._message: _Message | None = None
        self._asked: dict[str, Asked] = {}
        self._first_tool_number: int | None = None
        self._skipped: Counter[str] = Counter()
        self._person_spoke = False
        self._agent_spoke = False
        self.past_mark = new_from.after_id is None
        """The record of the mark was taken; what comes now is new."""
        self.position = 0
        """Of the record at hand among those taken."""
        self.number = 0
        """Of the last turn."""
        self.last_at_ms: int | None = None
        """The time of the last record that has one."""
        self.drafts: list[Draft] = []
        self.own_call = False
        """It begins with one of our prompts; nothing else of it matters (P23)."""
        self.known_records = 0
        self.unknown_records = 0

    # -- records ------------------------------------------------------------------------------------------------------

    def enter(self, record_id: str, at_ms: int | None) -> None:
        """What is added from now on is said by this record."""
        self.position += 1
        self._record_id = record_id
        self._at_ms = at_ms
        self._before = (len(self.drafts), self._kept_bytes)
        self.last_at_ms = at_ms if at_ms is not None else self.last_at_ms

    def leave(self) -> None:
        """The record has said all it says; what the next one says is new if this is the mark's."""
        if not self.past_mark:
            self.past_mark = self._record_id == self._new_from.after_id

    def take_back(self) -> int:
        """Keep nothing of the turns that began with the record at hand: only their numbers count. How many there were."""
        (drafts, self._kept_bytes) = self._before
        taken_back = len(self.drafts) - drafts
        del self.drafts[drafts:]
        return taken_back

    def count(self, *, known: bool) -> None:
        """Count a record as one of a kind that is understood, or not."""
        self.known_records += known
        self.unknown_records += not known

    def skip(self, reason: str, count: int = 1) -> None:
        """Count what was left out; a negative number was not, after all."""
        reason = one_line(reason, _REASON_CHARS)
        if reason not in self._skipped and len(self._skipped) >= _MAX_REASONS:
            reason = f"{UNKNOWN_TYPE}other" if reason.startswith(UNKNOWN_TYPE) else "other"
        self._skipped[reason] += count

    def skip_unknown(self, kind: object) -> None:
        """Count a record of a kind that no version known to us writes."""
        self.count(known=False)
        self.skip(f"{UNKNOWN_TYPE}{kind}")

    @property
    def seems_strange(self) -> bool:
        """Most records are of unknown kinds, and one side of the conversation, or both, is not among the known ones."""
        return self.unknown_records > self.known_records and not (self._person_spoke and self._agent_spoke)

    @property
    def skipped(self) -> dict[str, int]:
        """How many parts were left out, by reason."""
        return dict(sorted((+self._skipped).items()))

    @property
    def has_enough(self) -> bool:
        """As much is kept as one fetch returns: the next turn is for another one."""
        return self._kept_bytes >= MAX_KEPT_BYTES

    # -- turns --------------------------------------------------------------------------------------------------------

    def say(self, role: Role, text: str, *, raw: str = "", branch: int = -1, tool_name: str | None = None) -> None:
        """A turn of its own. `raw` is a person's text as recorded: before the agent's first word it may be our prompt. What a
        program put in the person's place is a tool's."""
        if role is Role.USER:
            if self.begins_with_own_prompt(raw or text):
                return
            if program := machine_text(text):
                role, tool_name = Role.TOOL, program
            self._person_spoke = True
            self._message = None
        self._begin(role, _of_others(text) if role is Role.TOOL else text, branch, tool_name)

    def begins_with_own_prompt(self, raw: str) -> bool:
        """Whether this text, before the agent's first word, is a prompt of ours; `own_call` then."""
        if not self._agent_spoke and is_own_prompt(raw):
            self.own_call = True
        return self.own_call

    def speak(self, message_id: str | None, text: str, calls: Sequence[Asked] = (), *, branch: int = -1) -> None:
        """A part of the agent's message; a message is one turn, however many records it comes in."""
        self._agent_spoke = True
        for each in calls:
            if each.call_id:
                self._asked[each.call_id] = each
        while len(self._asked) > _OPEN_CALLS:
            del self._asked[next(iter(self._asked))]
        message = self._message
        if message is None or message_id is None or message.id != message_id:
            draft = self._begin(Role.AGENT, text, branch)
            self._message = message = _Message(message_id, self.number, draft)
        elif self.is_new(message.number):
            if message.draft is None:
                message.draft = self._draft(message.number, Role.AGENT, branch)
            self._grow(message.draft, text)
        if message.draft is not None:
            self._add_calls(message.draft, [call for each in calls for call in (each.call, *each.more)])

    def answer(
        self, call_id: str | None, text: str, *, tool_name: str | None = None, failed: bool = False, branch: int = -1
    ) -> str | None:
        """What a tool answered, a turn of its own; the tool's name, where its call or the answer tells it. What memory
        itself printed is left out of the text."""
        call = self._asked.pop(call_id, None) if call_id else None
        name = call.call.name if call else tool_name
        new = self.is_new(self.number + 1)
        if call is not None and call.of_memory:
            text = MEMORY_OUTPUT_PLACEHOLDER
        draft = self._begin(Role.TOOL, _of_others(text) if new else "", branch, name)
        if draft is not None:
            draft.failed = failed
        return name

    def awaits(self, call_id: str | None) -> bool:
        """Whether this call was made and not answered so far."""
        return call_id in self._asked

    @property
    def awaits_any(self) -> bool:
        """Whether some call was not answered so far."""
        return bool(self._asked)

    def asks_memory(self) -> None:
        """All calls not answered so far ask memory, by what was done inside them."""
        for call_id, each in self._asked.items():
            self._asked[call_id] = Asked(call_id, each.call, of_memory=True)

    @property
    def message_id(self) -> str | None:
        """The id of the agent's message that may still go on."""
        return self._message.id if self._message else None

    def end_message(self) -> None:
        """The next words of the agent's are a turn of their own."""
        self._message = None

    def is_new(self, number: int) -> bool:
        """Whether the turn of this number, said by the record at hand, is one that the mark does not cover."""
        if not self.past_mark:
            return False
        if self._new_from.after_ms is not None:
            return (self.last_at_ms or 0) > self._new_from.after_ms
        return self._new_from.after_number is None or number > self._new_from.after_number

    def _begin(self, role: Role, text: str, branch: int, tool_name: str | None = None) -> Draft | None:
        """A new turn; None where the mark covers it, and only its number counts."""
        self.number += 1
        if role is Role.TOOL and self._first_tool_number is None:
            self._first_tool_number = self.number
        if not self.is_new(self.number):
            return None
        draft = self._draft(self.number, role, branch)
        draft.tool_name = tool_name
        self._grow(draft, text)
        return draft

    def _draft(self, number: int, role: Role, branch: int) -> Draft:
        draft = Draft(number, role, branch, Excerpt(text_limit(role)), self._at_ms)
        self.drafts.append(draft)
        self._kept_bytes += TURN_BYTES
        return draft

    def _grow(self, draft: Draft, text: str) -> None:
        before = size_of(draft.text)
        if text:
            draft.text = draft.text.grown(f"\n\n{text}" if draft.text.total_chars else text)
        draft.last_position = self.position
        if len(draft.record_ids) < MAX_CALLS_PER_TURN:
            draft.record_ids.append(self._record_id)
        else:
            draft.record_ids[-1] = self._record_id
        self._kept_bytes += size_of(draft.text) - before + _RECORD_BYTES

    def _add_calls(self, draft: Draft, calls: list[ToolCall]) -> None:
        room = MAX_CALLS_PER_TURN - len(draft.calls)
        if len(calls) > room:
            self.skip("tool-call", len(calls) - room)
        draft.calls.extend(calls[:room])
        self._kept_bytes += sum(_CALL_BYTES + len(call.brief) for call in calls[:room])

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def turns(self, left_out: Callable[[Draft], str | None], *, scripted: bool = False) -> tuple[Turn, ...]:
        """The new turns in order, without those for which `left_out` names a reason, which is counted. Where the session
        is `scripted`, what stands in a person's place was said by a program."""
        turns: list[Turn] = []
        furthest, furthest_id = -1, ""
        for draft in sorted(self.drafts, key=lambda draft: draft.number):
            reason = left_out(draft)
            if reason is not None:
                self.skip(reason)
                continue
            # A message may go on after the answers to its first calls: a mark must not fall short of what is returned.
            if draft.last_position > furthest:
                furthest, furthest_id = draft.last_position, draft.record_ids[-1]
            turns.append(turn_of(draft, furthest_id, scripted))
        return () if self.own_call else tuple(turns)

    def tools_answered_before(self, turns: Sequence[Turn]) -> bool:
        """Whether a tool answered before the first of these, or at all where there is none."""
        first_number = turns[0].number if turns else self.number + 1
        return self._first_tool_number is not None and self._first_tool_number < first_number


def _of_others(text: str) -> str:
    """What a tool printed or a file held, without what memory had put there (P26)."""
    return MEMORY_OUTPUT_PLACEHOLDER if shows_an_entry(text) else without_own_output(text)
