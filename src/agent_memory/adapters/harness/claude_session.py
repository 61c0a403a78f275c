"""A Claude Code session as turns, assembled record by record in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice

from attrs import define, field

from agent_memory.adapters.harness.claude_record import Answered, LeftOut, Part, QueueStep, Record, Returned, Said
from agent_memory.adapters.harness.claude_records import read_record
from agent_memory.adapters.harness.claude_texts import typed_text, without_reminders
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Draft, NewFrom
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.vocabulary import Harness

_MOST_PLACES = 20
_MOST_BEFORE = 20
_QUESTION_TOOL = "AskUserQuestion"
_TRUSTED_REFUSALS = frozenset(
    ("ExitPlanMode", _QUESTION_TOOL, "Edit", "MultiEdit", "Write", "NotebookEdit", "TodoWrite")
)
"""Tools whose error messages Claude Code makes itself: others could print a refusal that nobody spoke."""


class ClaudeSession:
    """Takes the records of one session in file order; `history` is what they say."""

    def __init__(self, session_id: str, new_from: NewFrom, *, any_session: bool = False) -> None:
        """`any_session` takes the records of every session in the file as this one's."""
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._any_session = any_session
        self._seen = IdSet()
        self._branches = Branches()
        self._queued = QueuedPrompts()
        self._retracted: set[str] = set()
        self._pull_requests: set[str] = set()
        self._before: list[Record] | None = []
        """Records under the id of another session, as long as they may be this one's first."""
        self._foreign = 0
        self._named = False
        self._facts = _Facts()
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    @property
    def all_foreign(self) -> bool:
        """Records named other sessions, and none this one."""
        return self._foreign > 0 and not self._named

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object of the file."""
        record = read_record(value)
        if record is None:
            self.turns.skip("bad-record")
        else:
            self.take(record)

    def take(self, record: Record) -> None:
        """The next record of the file."""
        if record.known:
            self.turns.count(known=True)
        if not self._any_session and record.session_id not in (None, self.session_id):
            self._foreign += 1
            self.turns.skip("other-session")
            if self._before is not None:
                is_copy = len(self._before) > _MOST_BEFORE or any(isinstance(part, Answered) for part in record.parts)
                self._before = None if is_copy else [*self._before, record]
            return
        if record.session_id is not None:
            self._named = True
            self._take_before(record)
        self._take_own(record)

    def _take_before(self, record: Record) -> None:
        """Take what stands before the first record of this session under the id of the one before it, if this follows on it:
        so begins what `/clear`, or a plan to be carried out, begins. What a fork copied holds the agent's words too."""
        before = self._before or []
        if record.parent_id in {each.id for each in before}:
            self._before = None
            self.turns.skip("other-session", -len(before))
            for each in before:
                self._take_own(each)
        elif any(not isinstance(part, LeftOut) for part in record.parts):
            self._before = None

    def _take_own(self, record: Record) -> None:
        if record.sidechain:
            self.turns.skip("sidechain")
            return
        if (record.has_own_id or record.at_ms is not None) and not self._seen.add(record.id):
            self.turns.skip("repeated-record")
            return
        if self._begins_after_enough(record):
            self._full = True
            return
        self._facts.note(record, self._seen)
        self._retracted.update(islice(record.retracted_ids, 1_000))
        self.turns.enter(record.id, record.at_ms)
        branch = self._branches.note(record.id, record.parent_id, self.turns.position, _begins_branch(record))
        for part in record.parts:
            self._take_part(part, record, branch)
        if not self.turns.past_mark:
            self._branches.forget()
        self.turns.leave()

    def history(self) -> History:
        """The new turns, without those rewound away or retracted."""
        abandoned = self._branches.abandoned()

        def left_out(draft: Draft) -> str | None:
            if draft.branch in abandoned:
                return "abandoned-branch"
            return "retracted" if self._retracted.intersection(draft.record_ids) else None

        facts = self._facts
        told = SessionFacts(
            harness=Harness.CLAUDE_CODE,
            session_id=self.session_id,
            title=facts.title,
            cwd=facts.relocated_cwd or facts.cwd,
            also_in=tuple(sorted(facts.spoken_in - {facts.relocated_cwd or facts.cwd})),
            branch=facts.branch,
            agent=facts.model,
            started_at_ms=facts.started_at_ms,
            automated=facts.automated,
        )
        return history_of(told, self.turns, left_out, remaining=self._full)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, part: Part, record: Record, branch: int) -> None:
        match part:
            case Said():
                self._say(part, record, branch)
            case Answered():
                self.turns.speak(part.message_id, part.text, part.asked, branch=branch)
            case Returned():
                self._return(part, branch)
            case QueueStep():
                self._step_queue(part, record, branch)
            case LeftOut(reason) if reason.startswith(UNKNOWN_TYPE):
                self.turns.skip_unknown(reason.removeprefix(UNKNOWN_TYPE))
            case LeftOut(reason):
                self.turns.skip(reason)

    def _say(self, said: Said, record: Record, branch: int) -> None:
        if self.turns.begins_with_own_prompt(said.raw):
            return
        if not said.text:
            self.turns.skip(said.source or "empty")
            return
        if said.source is None:
            if not self._queued.is_new(said.text, is_record=not said.queued):
                self.turns.skip("repeated-prompt")
                return
            self._facts.note_prompt(record)
            self.turns.say(Role.USER, said.text, branch=branch)
        else:
            self.turns.say(Role.TOOL, said.text, branch=branch, tool_name=said.source)

    def _step_queue(self, step: QueueStep, record: Record, branch: int) -> None:
        if step.operation == "enqueue":
            self._queued.enqueue(step.text)
        elif step.operation == "dequeue":
            self._queued.dequeue()
        elif step.operation == "remove":
            text = self._queued.remove(step.text)
            if step.reason not in ("", "absorbed_mid_turn") or text.startswith("/"):
                return
            typed = typed_text([text])
            if typed.text:
                self._say(Said(typed.text, text, queued=True, prompt=False), record, branch)

    def _return(self, returned: Returned, branch: int) -> None:
        if returned.tool_name == "pr-link":
            if returned.text in self._pull_requests:
                return
            self._pull_requests.update([returned.text] if len(self._pull_requests) < 1_000 else [])
        name = self.turns.answer(
            returned.tool_use_id,
            without_reminders(returned.text),
            tool_name=returned.tool_name,
            failed=returned.failed,
            branch=branch,
        )
        spoken = _spoken(returned, name)
        if spoken:
            self.turns.say(Role.USER, spoken, branch=branch)

    def _begins_after_enough(self, record: Record) -> bool:
        """Whether a turn begins here that no turn before it can grow beyond, with enough kept already."""
        if not self.turns.has_enough or all(isinstance(part, LeftOut) for part in record.parts):
            return False
        message_id = self.turns.message_id
        return not any(
            isinstance(part, Answered) and part.message_id is not None and part.message_id == message_id
            for part in record.parts
        ) and not any(isinstance(part, Returned) and self.turns.awaits(part.tool_use_id) for part in record.parts)


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
    spoken_in: set[str] = field(factory=set[str])
    typed_prompts: int = 0
    scripted_prompts: int = 0
    human: bool = False
    scheduled: bool = False

    def note(self, record: Record, seen: IdSet) -> None:
        self.cwd = self.cwd or record.cwd
        self.relocated_cwd = record.relocated_cwd or self.relocated_cwd
        self.branch = record.branch or self.branch
        self.model = record.model or self.model
        self.started_at_ms = self.started_at_ms or record.at_ms
        self.scheduled = self.scheduled or record.scheduled
        ours = record.title_leaf_id is None or record.title_rank != 1 or record.title_leaf_id in seen
        if record.title and ours and record.title_rank >= self.title_rank:
            self.title, self.title_rank = record.title, record.title_rank

    def note_prompt(self, record: Record) -> None:
        self.human = self.human or record.human
        if record.cwd and len(self.spoken_in) < _MOST_PLACES:
            self.spoken_in.add(record.cwd)
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


_WAITING = 200
_PROMPTS_APART = 3
"""A copy comes soon: by the third prompt after the first record, the same words were typed again."""


class QueuedPrompts:
    """Three records may hold one queued prompt: its removal from the queue when the agent takes it (in some versions the
    only one, with the text or without), an attachment, a user record. The first to come counts."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque(maxlen=_WAITING)
        self._heard: dict[str, int] = {}
        """How many more prompts a copy of this text is expected for."""

    def enqueue(self, text: str) -> None:
        """It waits."""
        self._waiting.append(text)

    def dequeue(self) -> None:
        """The first that waits becomes a prompt of its own, in a record of its own."""
        if self._waiting:
            self._waiting.popleft()

    def remove(self, text: str) -> str:
        """The text that left the queue, which may not say so itself."""
        if not text:
            return self._waiting.popleft() if self._waiting else ""
        if text in self._waiting:
            self._waiting.remove(text)
        return text

    def is_new(self, text: str, *, is_record: bool) -> bool:
        """Whether this is the first record of the prompt. `is_record` for a user record, of which only the copy of a
        queued prompt is a repetition: a person may type the same words twice."""
        key = " ".join(text.split())
        if key in self._heard:
            del self._heard[key]
            return False
        self._heard = {known: left - is_record for known, left in self._heard.items() if left > is_record}
        if not is_record:
            self._heard[key] = _PROMPTS_APART
        return True


_RECENT_RECORDS = 20_000
_MAX_BRANCHES = 60_000


class Branches:
    """Follows the parent links of a transcript in file order.

    A branch begins at each prompt. It is abandoned if another prompt with the same parent was given after everything
    that grew from it was written: that is what rewinding leaves behind. Two branches that were both written on afterwards
    (a session resumed twice) are both kept. Compaction sets a new root and may rewrite parents; since nothing here walks
    back to a root, it abandons nothing. Memory is bounded: links further back than the last 20,000 records are not
    followed.
    """

    def __init__(self) -> None:
        self._branch_of: dict[str, int] = {}
        self._parents: list[int] = []
        self._begun_at: list[int] = []
        self._last_at: list[int] = []
        self._siblings: dict[str, list[int]] = {}

    def note(self, id: str, parent_id: str | None, position: int, begins: bool) -> int:
        """The branch that this record belongs to, -1 before the first; `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1) if parent_id else -1
        if begins:
            branch = self._begin(parent_id, branch, position)
        if branch >= 0:
            self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def forget(self) -> None:
        """Start afresh if there is much to remember: for when nothing noted so far can matter any more."""
        if len(self._parents) > _MAX_BRANCHES:
            for held in (self._branch_of, self._siblings, self._parents, self._begun_at, self._last_at):
                held.clear()

    def abandoned(self) -> frozenset[int]:
        """The branches that were rewound away, with all that grew from them."""
        last_at = list(self._last_at)
        for branch in range(len(self._parents) - 1, -1, -1):
            parent = self._parents[branch]
            if parent >= 0:
                last_at[parent] = max(last_at[parent], last_at[branch])
        left: set[int] = set()
        for siblings in self._siblings.values():
            newest_begun_at = max(self._begun_at[branch] for branch in siblings)
            left.update(branch for branch in siblings if last_at[branch] < newest_begun_at)
        for branch, parent in enumerate(self._parents):
            if parent in left:
                left.add(branch)
        return frozenset(left)

    def _begin(self, parent_id: str | None, parent: int, position: int) -> int:
        branch = len(self._parents)
        self._parents.append(parent)
        self._begun_at.append(position)
        self._last_at.append(position)
        if parent_id:
            self._siblings.setdefault(parent_id, []).append(branch)
        return branch
