"""The turns of one session, built record by record in bounded memory (P25): what the readers of all harnesses share."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import ClassVar, Self

from attrs import define, field, frozen

from agent_memory.harness import any_json as get
from agent_memory.note.note import Harness
from agent_memory.redaction.redact import stored_line
from agent_memory.session import own_marks as marks
from agent_memory.session.history import UNKNOWN_TYPE, History, Role, SessionMark, ToolCall, Turn
from agent_memory.session.tool_calls import tool_calls
from agent_memory.session.turns import MAX_KEPT_BYTES, TEXT_CHARS, TURN_BYTES, Excerpt, last_time
from agent_memory.text.ids import IdSet
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import clean_text, one_line

MAX_CALLS_PER_RECORD = 500  # no message of a model holds more
MAX_CALLS_PER_TURN = 1_000
_MAX_OPEN_CALLS = 5_000
_MAX_REASONS = 60
_RECORD_BYTES = 150
_CALL_BYTES = 400
_NOTE = re.compile(r"(?:^|, )user_note: ", re.MULTILINE)
_ANSWER = re.compile(
    r"\AUser (?:selected|responded|wrote|answered): (.+)|\"=\"(.+?)\"(?=, \"|\. (?:\"|You can now continue))", re.DOTALL
)


@frozen
class Asked:
    """A tool call as recorded, with what is needed to recognise its answer."""

    call_id: str
    calls: tuple[ToolCall, ...]  # one; of a patch one for each of its files
    of_memory: bool  # it asks memory itself, so that the answer is nothing new (P26)


def asked(call_id: str, name: str, arguments: get.Json) -> Asked:
    """Returns a call of the tool `name`, whose command, if it runs one, is under `command` or `cmd`."""
    calls = tool_calls(name or "unknown", arguments)
    of_memory = (
        marks.is_memory_tool(name)
        or any(marks.is_memory_command(get.text(arguments, key)) for key in ("command", "cmd"))
        or any(marks.is_entry_path(call.path or "") for call in calls)
    )
    return Asked(call_id, calls, of_memory)


def asked_in(blocks: Iterable[get.Json], kinds: Container[object], arguments: str = "input") -> list[Asked]:
    """Returns the calls among the blocks of a message: those of these types, with `id`, `name` and arguments."""
    calls = (block for block in blocks if block.get("type") in kinds)
    return [
        asked(get.text(call, "id"), get.text(call, "name"), get.mapping(call, arguments))
        for call in islice(calls, MAX_CALLS_PER_RECORD)
    ]


def _answers_in(text: str) -> str:
    answers = get.mapping(get.parsed_object(text), "answers").values()
    given = (get.items(each, "answers") if is_object(each) else [each] for each in answers)
    lines = [", ".join(one for one in each if isinstance(one, str)) for each in given]
    told = "\n".join(lines or (first or second for first, second in _ANSWER.findall(text)))
    # What the person wrote beside a choice is a paragraph of its own.
    return _NOTE.sub("\n\n", told.replace("\n", "\n\n")).strip() if _NOTE.search(told) else told


@define
class Draft:
    """A turn that may still grow."""

    number: int
    role: Role
    branch: int
    text: Excerpt
    at_ms: int | None
    tool_name: str | None = None
    message_id: str | None = None  # of the agent's message, whose parts may come in records of their own
    is_kept: bool = False  # not as long as the mark covers it
    failed: bool = False
    record_ids: list[str] = field(factory=list[str])
    last_position: int = 0
    calls: list[ToolCall] = field(factory=list[ToolCall])
    answers: ToolCall | None = None


class Session:
    """One session, as its records come in file order; `history` is what they said so far.

    A harness's reader takes each object in `take`: it enters the record (`enter`), adds what it says (`hear`, `speak`,
    `answer`), or counts that it could not be read (`skip`). What it leaves out by intent is not counted.

    Turns are numbered over the whole session, those before the mark and those left out later included, so that a number
    always means the same turn. Of a message that began before the mark only the rest is returned, under the number of its
    turn. `branch` is any number by which a reader will know again what was rewound away.

    Once about 16 MiB are kept, the next record that begins a turn, and does not go on with an earlier one, makes it `full`.
    """

    harness: ClassVar[Harness]
    # The tool by which the agent asks the person something. Those of MCP servers have other names, with the server's in them.
    question_tool: ClassVar[str] = ""
    rewinds: ClassVar[bool] = False  # what comes later may take back what was said: all is read, also once it is `full`

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        # what is known of the session as a whole
        self.title: str | None = None
        self.cwd: str | None = None
        self.also_in: tuple[str, ...] = ()
        self.git_branch: str | None = None
        self.agent: str | None = None
        self.started_at_ms: int | None = None
        self.automated = False  # no person took part; what stands in a person's place was said by a program
        self.tools_answered = False  # a tool answered in what was left out
        self.own_call = False  # it begins with one of our prompts; nothing else of it matters (P23)
        self.full = False  # enough is kept; what comes from here on is for another fetch
        # of the record at hand: its branch, its place among those taken, and whether what it says is new
        self.branch = -1
        self.position = 0
        self.past_mark = True
        self._record_id = ""
        self._at_ms: int | None = None
        self._is_closed = False  # enough is kept: a turn that begins in this record is for another fetch
        # what was taken so far
        self.number = 0  # of the last turn
        self.known_records = 0
        self.unknown_records = 0
        self.skipped: Counter[str] = Counter()  # what could not be read, by reason
        self.seen_ids = IdSet()  # of records; for readers that tell repeated ones by their ids
        self.open_calls: dict[str, Asked] = {}  # those not answered so far, by their ids
        self._early_answers: dict[str, Draft] = {}  # Claude Code may write an answer before its call
        self._call_ids = IdSet()
        self.person_spoke = self.agent_spoke = False
        self._mark: SessionMark | None = None
        self._mark_id: str | None = None
        # The mark, where its record is gone from a rewritten transcript: what is new is told by times, or by numbers.
        self._lost_mark: SessionMark | None = None
        self._whole: Self | None = None  # the same session read to its end: what was taken back is known from the start
        self._last_at_ms: int | None = None
        self._kept_bytes = 0
        self._drafts: list[Draft] = []
        self._message: Draft | None = None  # the agent's last message, as long as it may go on
        self._first_tool_number: int | None = None

    def go_on_after(self, mark: SessionMark | None, *, is_lost: bool = False) -> None:
        self._mark = mark
        self._lost_mark = mark if is_lost else None
        self._mark_id = mark.last_record_id if mark and not is_lost else None
        self.past_mark = self._mark_id is None

    def teach(self, unfilled: Self) -> bool:
        """Tells whether this one learnt at the end what it should have known before: that the record of the mark does not
        come, or that room was taken by what was taken back. Then `unfilled`, the same before anything was put into it, is
        told."""
        if self.own_call:
            return False
        if self._mark is not None and not self.mark_came:
            unfilled.go_on_after(self._mark, is_lost=True)
            return True
        if self._whole or not (
            self.full and any(self.is_left_out(each.branch, each.record_ids) for each in self._drafts)
        ):
            return False
        self._drafts, self.seen_ids = [], IdSet()  # no more than what was taken back is asked of it
        unfilled._whole = self
        return True

    def end(self) -> None:
        """All was put into it."""

    def take(self, value: get.Json) -> None:
        """The next object. Never raises for what it holds; every object is counted as known, unknown or skipped."""
        raise NotImplementedError  # each harness defines its own

    @property
    def done(self) -> bool:
        """Nothing that comes can matter: enough is kept, or it is our own call."""
        return (self.full and not self.rewinds) or self.own_call

    def is_left_out(self, branch: int, record_ids: Sequence[str]) -> bool:
        """Tells whether a turn of this branch, said by these records, was taken back: asked after `end`."""
        return False

    # -- records ------------------------------------------------------------------------------------------------------

    def enter(self, record_id: str, at_ms: int | None) -> None:
        """What is added from now on is said by this record."""
        self.past_mark = self.mark_came
        # Records are not always in the order of their times.
        self.started_at_ms = min(filter(None, (self.started_at_ms, at_ms)), default=None)
        self.position += 1
        self._record_id = record_id
        self._at_ms = at_ms
        self._is_closed = self.has_enough
        self._last_at_ms = at_ms if at_ms is not None else self._last_at_ms

    @property
    def mark_came(self) -> bool:
        """Tells whether the record of the mark was taken: then what the next one says is new."""
        return self.past_mark or self._record_id == self._mark_id

    def own_id(self, record_id: str) -> str:
        """Returns the id, with a number where another record has the same."""
        own, count = record_id, 1
        while not self.seen_ids.add(own):
            count += 1
            own = f"{record_id}.{count}"
        return own

    def note(self, *, title: str = "", cwd: str = "", branch: str = "", agent: str = "") -> None:
        """What a record says of the session as a whole: of its directories the first, of the others the last counts."""
        self.cwd = self.cwd or cwd or None
        self.title = title.strip() or self.title
        self.git_branch = branch or self.git_branch
        self.agent = agent or self.agent

    def skip(self, reason: str) -> None:
        reason = one_line(reason, 80)
        if reason not in self.skipped and len(self.skipped) >= _MAX_REASONS:
            reason = f"{UNKNOWN_TYPE}other" if reason.startswith(UNKNOWN_TYPE) else "other"
        self.skipped[reason] += 1

    def skip_unknown(self, kind: object) -> None:
        """Count a record of a kind that no version known to us writes."""
        self.unknown_records += 1
        self.skip(f"{UNKNOWN_TYPE}{kind}")

    def knows(self, kind: object, is_known: object) -> bool:
        """Count a record of this kind as known, or as unknown; tells which."""
        if is_known:
            self.known_records += 1
        else:
            self.skip_unknown(kind)
        return bool(is_known)

    @property
    def has_enough(self) -> bool:
        """As much is kept as one fetch returns: the next turn is for another one."""
        return self._kept_bytes >= MAX_KEPT_BYTES

    # -- turns --------------------------------------------------------------------------------------------------------

    def hear(self, raw: str, words: str | None = None, *, by: str | None = None) -> None:
        """A text in the person's name, as recorded: before the agent's first word it may be our prompt. `words` is what they typed
        of it (`typed_words` by itself), or what a program said, that `by` names. What a program put in the person's place is a
        tool's."""
        words = marks.typed_words(raw) if words is None else words
        if self.begins_with_own_prompt(raw or words) or not words:
            return
        if by:
            self.answer(None, words, tool_name=by)
        elif not self.full:
            self.person_spoke, self._message = True, None
            program = marks.machine_text(words)
            self._begin(Role.TOOL if program else Role.USER, words, program)

    def ran(self, command: str, output: str, tool_name: str, *, failed: bool = False) -> None:
        shown = marks.MEMORY_OUTPUT_PLACEHOLDER if marks.is_memory_command(command) else output
        self.answer(None, f"$ {command}\n{shown}", tool_name=tool_name, failed=failed)

    def begins_with_own_prompt(self, raw: str) -> bool:
        """Tells whether this text, before the agent's first word, is a prompt of ours; `own_call` then."""
        if not self.agent_spoke and marks.is_own_prompt(raw):
            self.own_call = True
        return self.own_call

    def speak(self, message_id: str | None, text: str, calls: Sequence[Asked] = ()) -> None:
        """A part of the agent's message, unless it is empty; a message is one turn, however many records it comes in."""
        if self.full or not (calls or text.strip()):
            return
        self.agent_spoke = True
        message = self._message
        if message is None or message_id is None or message.message_id != message_id:
            message = self._begin(Role.AGENT, text)
        elif not self._is_covered(message.number):
            self._is_closed = False
            if not message.is_kept:
                message = self._kept(Draft(message.number, Role.AGENT, self.branch, message.text, self._at_ms))
            self._grow(message, text)
        if message is None:
            return
        message.message_id, self._message = message_id, message
        for each in calls:
            is_reused = bool(each.call_id) and not self._call_ids.add(each.call_id)
            if is_reused and each.call_id in self.open_calls:
                del self.open_calls[each.call_id]  # its answer may be to either, so it is to an unknown call
            elif (early := self._early_answers.pop(each.call_id, None)) is not None:
                self._answered(early, each)
            elif each.call_id:
                self.open_calls[each.call_id] = each
        while len(self.open_calls) > _MAX_OPEN_CALLS:
            del self.open_calls[next(iter(self.open_calls))]
        if message.is_kept:
            new = [call for each in calls for call in each.calls][: MAX_CALLS_PER_TURN - len(message.calls)]
            message.calls.extend(new)
            self._kept_bytes += sum(_CALL_BYTES + len(call.brief) for call in new)

    def answer(
        self, call_id: str | None, text: str, *, tool_name: str | None = None, failed: bool = False
    ) -> str | None:
        """Adds what a tool answered, a turn of its own, and returns the tool's name, where its call or the answer tells it.
        What memory itself printed is left out of the text."""
        if self.full:
            return None
        call = self.open_calls.pop(call_id, None) if call_id else None
        self._is_closed = self._is_closed and call is None
        name = call.calls[0].name if call else tool_name
        draft = self._begin(Role.TOOL, marks.MEMORY_OUTPUT_PLACEHOLDER if call and call.of_memory else text, name)
        if draft is not None:
            draft.failed = failed
            if call is not None:
                self._answered(draft, call)
            elif (
                call_id and not (tool_name or call_id in self._call_ids) and len(self._early_answers) < _MAX_OPEN_CALLS
            ):
                self._early_answers[call_id] = draft
        if name and name == self.question_tool and not failed:
            self.hear("", _answers_in(text))
        return name

    def _answered(self, draft: Draft, call: Asked) -> None:
        draft.answers = call.calls[0]
        draft.tool_name = draft.answers.name
        if call.of_memory:
            draft.text = Excerpt(TEXT_CHARS[Role.TOOL]).grown(marks.MEMORY_OUTPUT_PLACEHOLDER)

    @property
    def message_id(self) -> str | None:
        """Returns the id of the agent's message that may still go on."""
        return self._message.message_id if self._message else None

    def end_message(self) -> None:
        self._message = None

    def _is_covered(self, number: int) -> bool:
        """Tells whether the turn of this number, said by the record at hand, is covered by the mark, or taken back later."""
        if self._whole and self._whole.is_left_out(self.branch, (self._record_id,)):
            return True
        if (lost := self._lost_mark) is None:
            return not self.past_mark
        return number <= lost.turns_seen if lost.last_at_ms is None else (self._last_at_ms or 0) <= lost.last_at_ms

    def _begin(self, role: Role, text: str, tool_name: str | None = None) -> Draft | None:
        """Begins a new turn; only its number counts where the mark covers it. None where enough is kept."""
        if self._is_closed:
            self.full = True
            return None
        self.number += 1
        if role is Role.TOOL and self._first_tool_number is None:
            self._first_tool_number = self.number
        draft = Draft(self.number, role, self.branch, Excerpt(TEXT_CHARS[role]), self._at_ms, tool_name)
        if self._is_covered(self.number):
            return draft
        if role is Role.TOOL:  # what a tool printed or a file held, without what memory had put there (P26)
            text = marks.MEMORY_OUTPUT_PLACEHOLDER if marks.shows_an_entry(text) else marks.without_own_output(text)
        self._grow(self._kept(draft), text)
        return draft

    def _kept(self, draft: Draft) -> Draft:
        draft.is_kept = True
        self._drafts.append(draft)
        self._kept_bytes += TURN_BYTES
        return draft

    def _grow(self, draft: Draft, text: str) -> None:
        before = draft.text
        if text:
            draft.text = before.grown(f"\n\n{text}" if before.total_chars else text)
        draft.last_position = self.position
        if len(draft.record_ids) < MAX_CALLS_PER_TURN:
            draft.record_ids.append(self._record_id)
        else:
            draft.record_ids[-1] = self._record_id
        self._kept_bytes += draft.text.kept_bytes - before.kept_bytes + _RECORD_BYTES

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def history(self) -> History:
        turns = () if self.own_call else tuple(self._turns())
        first_number = min((draft.number for draft in self._drafts), default=self.number + 1)
        answered = self._first_tool_number is not None and self._first_tool_number < first_number
        return History(
            harness=self.harness,
            session_id=self.session_id,
            turns=turns,
            title=stored_line(self.title, 300) or None if self.title else None,
            cwd=self.cwd,
            also_in=self.also_in,
            branch=self.git_branch,
            agent=self.agent,
            started_at_ms=self.started_at_ms,
            ended_at_ms=last_time(turns),
            tools_answered_before=self.tools_answered or answered,
            remaining=self.full and not self.own_call,
            automated=self.automated,
            own_call=self.own_call,
            skipped=dict(sorted(self.skipped.items())),
        )

    def _turns(self) -> Iterator[Turn]:
        furthest, record_id = -1, ""
        for draft in sorted(self._drafts, key=lambda draft: draft.number):
            if self.is_left_out(draft.branch, draft.record_ids):
                continue
            # A message may go on after the answers to its first calls: a mark must not fall short of what is returned.
            if draft.last_position > furthest:
                furthest, record_id = draft.last_position, draft.record_ids[-1]
            by_script = self.automated and draft.role is Role.USER
            tool_name = "script" if by_script else draft.tool_name
            role, text = Role.TOOL if by_script else draft.role, clean_text(draft.text.text)
            name, clipped = one_line(tool_name, 120) if tool_name else None, draft.text.clipped_chars
            calls = tuple(draft.calls)
            yield Turn(
                draft.number, role, text, record_id, draft.at_ms, calls, name, draft.failed, clipped, draft.answers
            )


# -- what was said before somebody went back, told by the places and parents of records, in little memory (P25) -------

_KEY_BYTES = 8
_RECENT_RECORDS = 20_000


class Places:
    """The place of each id in the order of the file, in 8 bytes an id, so that millions fit (P25)."""

    def __init__(self) -> None:
        self._keys = bytearray()

    def __len__(self) -> int:
        return len(self._keys) // _KEY_BYTES

    def add(self, id: str) -> int:
        """Adds one id more and returns its place. One that was there before means the newer place from now on."""
        self._keys += hash(id).to_bytes(_KEY_BYTES, "little", signed=True)
        return len(self) - 1

    def find(self, id: str) -> int | None:
        """Returns the place of an id, sooner where it is a late one; None where it has none."""
        key, end = hash(id).to_bytes(_KEY_BYTES, "little", signed=True), len(self._keys)
        while (at := self._keys.rfind(key, 0, end)) >= 0:
            if at % _KEY_BYTES == 0:
                return at // _KEY_BYTES
            end = at + _KEY_BYTES - 1
        return None


class Branches:
    """Follows the parent links of a transcript in file order.

    A branch begins at each prompt. It is abandoned if another prompt with the same parent was given after everything
    that grew from it was written: that is what rewinding leaves behind. Two branches that were both written on afterwards
    (a session resumed twice) are both kept. Compaction sets a new root and may rewrite parents; since nothing here walks
    back to a root, it abandons nothing. Links further back than the last 20,000 records are not followed.
    """

    def __init__(self) -> None:
        self._branch_of: dict[str, int] = {}
        # Of each branch: the one that it grew from, its parent record, where it began, and where it was last written on.
        self._grown_from, self._parents, self._begun_at, self._last_at = (array("q") for _ in range(4))

    def note(self, id: str, parent_id: str, position: int, begins: bool) -> int:
        """Returns the branch that this record belongs to, -1 before the first; `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1)
        if begins:
            self._grown_from.append(branch)
            self._parents.append(hash(parent_id))
            self._begun_at.append(position)
            self._last_at.append(position)
            branch = len(self._parents) - 1
        if branch >= 0:
            self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def abandoned(self) -> bytearray:
        """Returns for each branch whether it was rewound away, by itself or with the one that it grew from."""
        last_at, left = self._last_at[:], bytearray(len(self._parents))
        for branch in reversed(range(len(left))):
            if (origin := self._grown_from[branch]) >= 0:
                last_at[origin] = max(last_at[origin], last_at[branch])
        by_parent = sorted(range(len(left)), key=self._parents.__getitem__)
        for parent, siblings in groupby(by_parent, self._parents.__getitem__):
            *older, newest = siblings
            for branch in older if parent != hash("") else ():
                left[branch] = last_at[branch] < self._begun_at[newest]
        for branch, origin in enumerate(self._grown_from):
            left[branch] |= origin >= 0 and left[origin]
        return left
