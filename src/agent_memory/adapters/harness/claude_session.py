"""A Claude Code session as turns, assembled record by record in bounded memory."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice

from attrs import define, field, frozen

from agent_memory.adapters.harness.claude_branches import Branches
from agent_memory.adapters.harness.claude_queue import QueuedPrompts
from agent_memory.adapters.harness.claude_records import (
    Answered,
    Asked,
    LeftOut,
    Part,
    QueueStep,
    Record,
    Returned,
    Said,
)
from agent_memory.adapters.harness.claude_texts import typed_text, without_reminders
from agent_memory.domain.history import History, Role, SessionMark, ToolCall, Turn
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.own_marks import (
    MEMORY_OUTPUT_PLACEHOLDER,
    is_own_prompt,
    shows_an_entry,
    without_own_output,
)
from agent_memory.domain.transcripts.turns import MAX_KEPT_BYTES, TURN_BYTES, Excerpt, last_time, readable, text_limit
from agent_memory.domain.vocabulary import Harness

_OPEN_CALLS = 5_000
_MAX_REASONS = 60
_MAX_CALLS_PER_TURN = 1_000
_TITLE_CHARS = 300

_QUESTION_TOOL = "AskUserQuestion"
_TRUSTED_REFUSALS = frozenset(
    ("ExitPlanMode", _QUESTION_TOOL, "Edit", "MultiEdit", "Write", "NotebookEdit", "TodoWrite")
)
"""Tools whose error messages Claude Code makes itself: others could print a refusal that nobody spoke."""


@frozen
class NewFrom:
    """Which records of a session are new: those after the record `after_id`, those later than `after_ms`, those of turns
    beyond `after_number`, or, with none of these, all."""

    after_id: str | None = None
    after_ms: int | None = None
    after_number: int | None = None


def new_after(mark: SessionMark | None) -> NewFrom:
    """By the id of the mark's record."""
    return NewFrom(mark.last_record_id) if mark else NewFrom()


def new_after_lost_record(mark: SessionMark) -> NewFrom:
    """Without that id, which is gone from a rewritten transcript."""
    if mark.last_at_ms is not None:
        return NewFrom(after_ms=mark.last_at_ms)
    return NewFrom(after_number=mark.turns_seen)


@define
class _Draft:
    """A turn that may still grow."""

    number: int
    role: Role
    branch: int
    text: Excerpt
    at_ms: int | None
    tool_name: str | None = None
    failed: bool = False
    record_ids: list[str] = field(factory=list)
    last_position: int = 0
    calls: list[ToolCall] = field(factory=list)


@define
class _Message:
    """The assistant message that the last agent turn is made from; its parts come in records of their own, with tools'
    answers between them."""

    id: str | None
    number: int
    draft: _Draft | None
    """None where all of it so far was there before the mark."""


class ClaudeSession:
    """Takes the records of one session in file order; `history` is what they say.

    Turns are numbered over the whole session, those before the mark and those left out later included, so that a number
    always means the same turn. Of an assistant message that began before the mark only the rest is returned, under the
    number of its turn.
    """

    def __init__(self, session_id: str, new_from: NewFrom, *, any_session: bool = False) -> None:
        """`any_session` takes the records of every session in the file as this one's."""
        self.session_id = session_id
        self._new_from = new_from
        self._any_session = any_session
        self._past_mark = new_from.after_id is None
        self._position = 0
        self._number = 0
        self._drafts: list[_Draft] = []
        self._message: _Message | None = None
        self._agent_spoke = False
        self._kept_bytes = 0
        self._seen = IdSet()
        self._branches = Branches()
        self._queued = QueuedPrompts()
        self._asked: dict[str, Asked] = {}
        self._retracted: set[str] = set()
        self._pull_requests: set[str] = set()
        self._first_tool_number: int | None = None
        self._skipped: Counter[str] = Counter()
        self._known = False
        self._foreign = 0
        self._named = False
        self._facts = _Facts()
        self.own_call = False
        """It begins with one of our prompts; nothing else of it matters."""
        self.full = False
        """Enough is kept; the records from here on are for another fetch."""

    @property
    def lost_its_mark(self) -> bool:
        """The record of the mark was not among those taken."""
        return not self._past_mark

    @property
    def found_nothing(self) -> bool:
        """Not one record was of a kind that Claude Code writes."""
        return not self._known

    @property
    def all_foreign(self) -> bool:
        """Records named other sessions, and none this one."""
        return self._foreign > 0 and not self._named

    def skip(self, reason: str, count: int = 1) -> None:
        """Count what was left out."""
        known = reason in self._skipped or len(self._skipped) < _MAX_REASONS
        self._skipped[one_line(reason, 80) if known else "other"] += count

    def take(self, record: Record) -> None:
        """The next record of the file. Nothing is taken once the session is full or known to be our own call."""
        self._position += 1
        self._known = self._known or record.known
        if not self._any_session and record.session_id not in (None, self.session_id):
            self._foreign += 1
            self.skip("other-session")
            return
        self._named = self._named or record.session_id is not None
        if record.sidechain:
            self.skip("sidechain")
            return
        if (record.has_own_id or record.at_ms is not None) and not self._seen.add(record.id):
            self.skip("repeated-record")
            return
        if self._begins_after_enough(record):
            self.full = True
            return
        self._facts.note(record, self._seen)
        self._retracted.update(islice(record.retracted_ids, 1_000))
        branch = self._branches.note(record.id, record.parent_id, self._position, _begins_branch(record))
        for part in record.parts:
            self._take_part(part, record, branch)
        self._pass_mark(record)

    def history(self) -> History:
        """The new turns, without those rewound away or retracted."""
        abandoned = self._branches.abandoned()
        kept: list[_Draft] = []
        for draft in sorted(self._drafts, key=lambda draft: draft.number):
            if draft.branch in abandoned:
                self.skip("abandoned-branch")
            elif self._retracted.intersection(draft.record_ids):
                self.skip("retracted")
            else:
                kept.append(draft)
        turns = () if self.own_call else self._turns(kept)
        first_number = turns[0].number if turns else self._number + 1
        facts = self._facts
        return History(
            harness=Harness.CLAUDE_CODE,
            session_id=self.session_id,
            turns=turns,
            title=one_line(facts.title, _TITLE_CHARS) if facts.title else None,
            cwd=facts.relocated_cwd or facts.cwd,
            branch=facts.branch,
            agent=facts.model,
            started_at_ms=facts.started_at_ms,
            ended_at_ms=last_time(turns),
            tools_answered_before=self._first_tool_number is not None and self._first_tool_number < first_number,
            remaining=self.full,
            automated=facts.automated,
            own_call=self.own_call,
            skipped=dict(sorted(self._skipped.items())),
        )

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, part: Part, record: Record, branch: int) -> None:
        match part:
            case Said():
                self._say(part, record, branch)
            case Answered():
                self._answer(part, record, branch)
            case Returned():
                self._return(part, record, branch)
            case QueueStep():
                self._step_queue(part, record, branch)
            case LeftOut(reason):
                self.skip(reason)

    def _say(self, said: Said, record: Record, branch: int) -> None:
        if not self._agent_spoke and is_own_prompt(said.raw):
            self.own_call = True
            return
        if not said.text:
            self.skip(said.source or "empty")
            return
        if said.source is None:
            if not self._queued.is_new(said.text, is_record=not said.queued):
                self.skip("repeated-prompt")
                return
            self._facts.note_prompt(record)
            self._begin(Role.USER, said.text, record, branch)
            self._message = None
        else:
            self._begin(Role.TOOL, without_own_output(said.text), record, branch, tool_name=said.source)

    def _step_queue(self, step: QueueStep, record: Record, branch: int) -> None:
        if step.operation == "enqueue":
            self._queued.enqueue(step.text)
        elif step.operation == "dequeue":
            self._queued.dequeue()
        elif step.operation == "remove":
            text = self._queued.remove(step.text)
            if step.reason not in ("", "absorbed_mid_turn") or text.startswith("/"):
                return
            typed = typed_text(text)
            if typed.text:
                self._say(Said(typed.text, text, queued=True, prompt=False), record, branch)

    def _answer(self, answered: Answered, record: Record, branch: int) -> None:
        self._agent_spoke = True
        for asked in answered.asked:
            self._asked[asked.tool_use_id] = asked
        while len(self._asked) > _OPEN_CALLS:
            del self._asked[next(iter(self._asked))]
        calls = [asked.call for asked in answered.asked]
        message = self._message
        if message is None or answered.message_id is None or message.id != answered.message_id:
            draft = self._begin(Role.AGENT, answered.text, record, branch)
            self._message = _Message(answered.message_id, self._number, draft)
        elif self._is_new(record, message.number):
            if message.draft is None:
                message.draft = self._draft(message.number, Role.AGENT, record, branch)
            self._grow(message.draft, answered.text, record)
        if self._message is not None and self._message.draft is not None:
            self._add_calls(self._message.draft, calls)

    def _return(self, returned: Returned, record: Record, branch: int) -> None:
        asked = self._asked.pop(returned.tool_use_id, None) if returned.tool_use_id else None
        name = asked.call.name if asked else returned.tool_name
        text = returned.text
        if name == "pr-link":
            if text in self._pull_requests:
                return
            self._pull_requests.update([text] if len(self._pull_requests) < 1_000 else [])
        new = self._is_new(record, self._number + 1)
        if new and ((asked is not None and asked.of_memory) or shows_an_entry(text)):
            text = MEMORY_OUTPUT_PLACEHOLDER
        draft = self._begin(
            Role.TOOL, without_own_output(without_reminders(text)) if new else "", record, branch, tool_name=name
        )
        if draft is not None:
            draft.failed = returned.failed
        spoken = _spoken(returned, name)
        if spoken:
            self._begin(Role.USER, spoken, record, branch)

    # -- turns --------------------------------------------------------------------------------------------------------

    def _begin(self, role: Role, text: str, record: Record, branch: int, tool_name: str | None = None) -> _Draft | None:
        """A new turn; None where the mark covers it, and only its number counts."""
        self._number += 1
        if role is Role.TOOL and self._first_tool_number is None:
            self._first_tool_number = self._number
        if not self._is_new(record, self._number):
            return None
        draft = self._draft(self._number, role, record, branch)
        draft.tool_name = tool_name
        self._grow(draft, text, record)
        return draft

    def _draft(self, number: int, role: Role, record: Record, branch: int) -> _Draft:
        draft = _Draft(number, role, branch, Excerpt(text_limit(role)), record.at_ms)
        self._drafts.append(draft)
        self._kept_bytes += TURN_BYTES
        return draft

    def _grow(self, draft: _Draft, text: str, record: Record) -> None:
        before = _size(draft.text)
        if text:
            draft.text = draft.text.grown(f"\n\n{text}" if draft.text.total_chars else text)
        draft.last_position = self._position
        if len(draft.record_ids) < _MAX_CALLS_PER_TURN:
            draft.record_ids.append(record.id)
        else:
            draft.record_ids[-1] = record.id
        self._kept_bytes += _size(draft.text) - before + 150

    def _add_calls(self, draft: _Draft, calls: list[ToolCall]) -> None:
        room = _MAX_CALLS_PER_TURN - len(draft.calls)
        if len(calls) > room:
            self.skip("tool-call", len(calls) - room)
        draft.calls.extend(calls[:room])
        self._kept_bytes += sum(400 + len(call.brief) for call in calls[:room])

    def _is_new(self, record: Record, number: int) -> bool:
        if not self._past_mark:
            return False
        if self._new_from.after_ms is not None:
            return (self._facts.last_at_ms or 0) > self._new_from.after_ms
        return self._new_from.after_number is None or number > self._new_from.after_number

    def _pass_mark(self, record: Record) -> None:
        if not self._past_mark:
            self._branches.forget()
            self._past_mark = record.id == self._new_from.after_id

    def _begins_after_enough(self, record: Record) -> bool:
        """Whether a turn begins here that no turn before it can grow beyond, with enough kept already."""
        if self._kept_bytes < MAX_KEPT_BYTES or all(isinstance(part, LeftOut) for part in record.parts):
            return False
        message_id = self._message.id if self._message else None
        return not any(
            isinstance(part, Answered) and part.message_id is not None and part.message_id == message_id
            for part in record.parts
        ) and not any(isinstance(part, Returned) and part.tool_use_id in self._asked for part in record.parts)

    def _turns(self, drafts: list[_Draft]) -> tuple[Turn, ...]:
        turns = []
        furthest, furthest_id = -1, ""
        for draft in drafts:
            # A message may go on after the answers to its first calls: a mark must not fall short of what is returned.
            if draft.last_position > furthest:
                furthest, furthest_id = draft.last_position, draft.record_ids[-1]
            turns.append(self._turn(draft, furthest_id))
        return tuple(turns)

    def _turn(self, draft: _Draft, record_id: str) -> Turn:
        scripted = draft.role is Role.USER and self._facts.automated
        return Turn(
            number=draft.number,
            role=Role.TOOL if scripted else draft.role,
            text=readable(draft.text.text),
            record_id=record_id,
            at_ms=draft.at_ms,
            tool_calls=tuple(draft.calls),
            tool_name="script" if scripted else one_line(draft.tool_name, 120) if draft.tool_name else None,
            failed=draft.failed,
            clipped_chars=draft.text.clipped_chars,
        )


@define
class _Facts:
    """What the records say about the session as a whole."""

    title: str | None = None
    title_rank: int = 0
    cwd: str | None = None
    relocated_cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    started_at_ms: int | None = None
    last_at_ms: int | None = None
    typed_prompts: int = 0
    scripted_prompts: int = 0
    human: bool = False
    scheduled: bool = False

    def note(self, record: Record, seen: IdSet) -> None:
        self.cwd = self.cwd or record.cwd
        self.relocated_cwd = record.relocated_cwd or self.relocated_cwd
        self.branch = record.branch or self.branch
        self.model = record.model or self.model
        self.last_at_ms = record.at_ms or self.last_at_ms
        self.started_at_ms = self.started_at_ms or record.at_ms
        self.scheduled = self.scheduled or record.scheduled
        ours = record.title_leaf_id is None or record.title_rank != 1 or record.title_leaf_id in seen
        if record.title and ours and record.title_rank >= self.title_rank:
            self.title, self.title_rank = record.title, record.title_rank

    def note_prompt(self, record: Record) -> None:
        self.human = self.human or record.human
        scripted = (record.entrypoint or "").startswith("sdk-")
        self.scripted_prompts += scripted
        self.typed_prompts += not scripted

    @property
    def automated(self) -> bool:
        """Only by signs that a person's session never shows: every prompt sent through the SDK, or none at all and a
        schedule that fired."""
        if self.human or self.typed_prompts:
            return False
        return self.scripted_prompts > 0 or self.scheduled


def _begins_branch(record: Record) -> bool:
    if any(isinstance(part, Returned) for part in record.parts):
        return False
    return any(isinstance(part, Said) and part.prompt and part.source is None for part in record.parts)


def _spoken(returned: Returned, tool_name: str | None) -> str:
    """What the person said through a tool: an answer to a question, or why a call was refused."""
    if tool_name == _QUESTION_TOOL and returned.answers:
        return returned.answers
    if returned.rejection_sure or tool_name in _TRUSTED_REFUSALS:
        return returned.rejection
    return ""


def _size(text: Excerpt) -> int:
    return sys.getsizeof(text.head) + sys.getsizeof(text.tail)
