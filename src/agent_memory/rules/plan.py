"""What an agent is asked, what its reply proposes, everything that checking it may depend on, and the plans: what will be written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from attrs import evolve, field, frozen

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import (
    GLOBAL_SCOPE,
    Confidence,
    Harness,
    Importance,
    Kind,
    Listed,
    Source,
    Status,
    StoredEntry,
    TierList,
    TurnNumber,
    Usage,
    body_hash,
)
from agent_memory.note.tagging import TagVocabulary
from agent_memory.redaction.redact import redact_path, stored_line
from agent_memory.rules.change import Change, ChangeGroup, Dropped, SectionBudget, entries_written
from agent_memory.rules.findings import Analysis
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.queue import InboxEntry, InlineNote
from agent_memory.text.ids import EntryId
from agent_memory.text.instants import DAY_MS
from agent_memory.text.plain_text import Count, Words
from agent_memory.text.value_rules import shown

# -- what an agent is asked, and what it answered ---------------------------------------------------------------------


@frozen
class SessionRequest:
    """Asks what is worth keeping of a session. A command gets `prompt`; the built-in extractor reads the values behind
    it."""

    prompt: str
    nonce: str
    entry: InboxEntry
    window: History
    shown: tuple[StoredEntry, ...] = ()
    handoff_id: str | None = None
    """The session's earlier handoff (among `shown`), to be updated in place."""
    now_ms: int = 0
    final_window: bool = True
    """Whether the session, as far as it is known, ends with this window."""


@frozen
class DefragRequest:
    """Asks how the store should be tidied. Prompt and values as in `SessionRequest`."""

    prompt: str
    nonce: str
    live: Sequence[Listed] = ()
    shown: tuple[StoredEntry, ...] = ()
    analysis: Analysis = Analysis()
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    tiers: TierList = TierList()
    now_ms: int = 0
    budget: SectionBudget = SectionBudget()
    undone: frozenset[str] = frozenset()
    """Fingerprints of actions that a person has undone (`actions.fingerprint_of`)."""
    force: bool = False
    """A person lifts the limit on how much one run may change."""


AgentRequest = SessionRequest | DefragRequest


@frozen
class AgentReply:
    """The agent's answer as it arrived. It is redacted before it is stored or parsed."""

    text: str
    prompt_chars: int = 0
    """Characters sent to a command; 0 for the built-in and for a replayed reply."""


KEPT_DAYS = 90
_MAX_CWD_CHARS = 400
_STATED = {"stated": True}


@frozen
class DaySpend:
    """The calls of one UTC day, and the characters sent and received."""

    calls: Count = field(default=0, metadata=_STATED)
    prompt_chars: Count = field(default=0, metadata=_STATED)
    reply_chars: Count = field(default=0, metadata=_STATED)


Spend = dict[str, DaySpend]
"""Spending by day (`2026-02-13`), oldest first."""


def with_added(spend: Spend, day: str, *, calls: int = 0, prompt_chars: int = 0, reply_chars: int = 0) -> Spend:
    """Returns the spend with these amounts added to a day; negative amounts are subtracted, never below 0. Days more
    than `KEPT_DAYS` before that one are dropped. A later day, left by a clock that ran ahead, stays."""
    old = spend.get(day, DaySpend())
    amounts = (old.calls + calls, old.prompt_chars + prompt_chars, old.reply_chars + reply_chars)
    new = DaySpend(*(max(0, amount) for amount in amounts))
    oldest = (datetime.fromisoformat(day) - timedelta(days=KEPT_DAYS)).strftime("%Y-%m-%d")
    return {each: spent for each, spent in sorted({**spend, day: new}.items()) if each >= oldest}


# -- what a reply to consolidate proposes -----------------------------------------------------------------------------


def _ref_problem(ref: str) -> str | None:
    return None if re.fullmatch(r"[\w.-]{1,64}", ref) else f"is {shown(ref)}, expected a short word"


@frozen
class ProposedEntry:
    """A new note. `links` and `[[…]]` in `body` hold `id__…`, or `ref:…` of the same reply."""

    title: Words
    body: Words
    kind: Kind
    tags: tuple[str, ...]
    ref: Annotated[str, _ref_problem] | None = None
    description: str | None = None
    scope: Literal["repo", "global"] | None = None
    importance: Importance | None = None
    confidence: Confidence | None = None
    turns: tuple[TurnNumber, ...] = ()
    links: tuple[str, ...] = ()
    supersedes: tuple[EntryId, ...] = ()


@frozen
class ProposedUpdate:
    """A change to a live note that was shown in full; None leaves a field as it is."""

    id: EntryId
    title: Words | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    body: Words | None = None
    drops: tuple[str, ...] = ()
    turns: tuple[TurnNumber, ...] = ()
    why: str = ""


@frozen
class ChangeSet:
    """A consolidate reply. `dropped` are the items that did not have the contract's shape."""

    entries: tuple[ProposedEntry, ...] = ()
    updates: tuple[ProposedUpdate, ...] = ()
    skipped: str | None = None
    dropped: tuple[Dropped, ...] = ()


@frozen
class Plan:
    """The changes of one session. It is stored before it is applied, so that a replay writes the same bytes."""

    changes: tuple[Change, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    skipped: str | None = None
    deferred: tuple[Change, ...] = ()
    """Checked like `changes`, but over the run's limit: the next run admits them first (`change.admit`)."""


@frozen
class PlanFacts:
    """Everything that checking one window's change set may depend on."""

    entry: InboxEntry
    window: History
    scope: str
    """The session's scope key; `global` outside a repository."""
    live: Sequence[Listed]
    taken_ids: frozenset[str]
    """Every id in use, casefolded: live ones, aliases, archived ones."""
    shown: Mapping[str, StoredEntry]
    status: Status
    """`captured` for the built-in, `consolidated` for an agent command."""
    now_ms: int
    changed_before: frozenset[str] = frozenset()
    """Ids already changed or archived in this run, for the run-wide limit."""
    live_at_start: int = 0
    handoff_id: str | None = None
    """The session's own handoff, which its later windows may replace."""
    handoff_days: int = 7
    vocabulary: TagVocabulary = TagVocabulary()
    similar: Mapping[ProposedEntry, tuple[StoredEntry, ...]] = field(
        factory=dict[ProposedEntry, tuple[StoredEntry, ...]]
    )
    """The live notes about the same subject as a proposed note, most similar first."""
    session: History | None = None
    """All known turns of the session, uncut, where they are more than the window: an origin is computed from all of
    them."""

    @property
    def is_persons_note(self) -> bool:
        """Returns whether the window is an inline note that a person wrote, not an agent inside a harness."""
        return isinstance(self.entry.retrieval, InlineNote) and self.entry.harness is Harness.MANUAL

    @property
    def ended_at_ms(self) -> int:
        """Returns the time of the last turn of the window, else of the inbox entry."""
        last = max((turn.at_ms for turn in self.window.turns if turn.at_ms is not None), default=self.entry.at_ms)
        return last if self.window.ended_at_ms is None else self.window.ended_at_ms

    @property
    def handoff_expires_at_ms(self) -> int:
        return self.ended_at_ms + self.handoff_days * DAY_MS

    def cited_turns(self, numbers: Iterable[int]) -> tuple[Turn, ...]:
        """Returns the turns of the window that an item cites, in order; for an inline note, the person's turns whether
        cited or not."""
        if isinstance(self.entry.retrieval, InlineNote):
            return tuple(turn for turn in self.window.turns if turn.role is Role.USER)
        wanted = frozenset(numbers)
        return tuple(turn for turn in self.window.turns if turn.number in wanted)

    def learnt_at_ms(self, cited: tuple[Turn, ...]) -> int:
        """Returns the time of the last cited turn, else of the inbox entry."""
        at_ms = cited[-1].at_ms if cited else None
        is_inline = isinstance(self.entry.retrieval, InlineNote)
        return self.entry.at_ms if at_ms is None or at_ms < 0 or is_inline else at_ms

    def source_of(self, cited: tuple[Turn, ...]) -> Source:
        """Returns the source of a note that cites these turns."""
        context = self.entry.context
        cwd, branch = context.cwd or self.window.cwd, self.window.branch or context.branch
        return Source(
            harness=self.entry.harness,
            thread_id=self.entry.retrieval.session_id,
            repo=self.scope if self.scope != GLOBAL_SCOPE else context.repo,
            cwd=stored_line(redact_path(cwd), _MAX_CWD_CHARS) if cwd else None,
            agent=stored_line(self.window.agent, 100) if self.window.agent else None,
            turns=tuple(dict.fromkeys(turn.number for turn in cited)),
            branch=stored_line(redact_path(branch), _MAX_CWD_CHARS) if branch else None,
            commit=context.commit if branch == context.branch else None,
        )


PLANNED_HASH = "planned"
"""Stands for the content hash of a note that is not written yet."""


def stored_when_applied(plan: Plan, live: Sequence[Listed]) -> dict[str, StoredEntry]:
    """Returns the notes that the plan writes as if they had been read from the store, by id. A replaced note keeps its
    present content hash, on which its change depends; a new one has `PLANNED_HASH`."""
    planned = entries_written(plan.changes)
    known = {each.meta.id: each for each in live if each.meta.id in planned}
    stored: dict[str, StoredEntry] = {}
    for id, entry in planned.items():
        before = known.get(id) or Listed(entry.meta, f"topics/{file_name_of(entry.meta)}", PLANNED_HASH)
        listed = evolve(before, meta=entry.meta, body_hash=body_hash(entry.body))
        stored[id] = StoredEntry(listed, entry.body)
    return stored


def live_when_applied(plan: Plan, live: Sequence[Listed], written: Mapping[str, StoredEntry]) -> Sequence[Listed]:
    """Returns the live notes as they will be once the plan, which writes these (`stored_when_applied`), is applied:
    changed ones in their place, retired ones gone, new ones last."""
    gone = {change.id for change in plan.changes if change.act == "retire"}
    before = {each.meta.id: each for each in live if each.meta.id not in gone}
    return tuple((before | {id: each.listed for id, each in written.items()}).values())


# -- defrag -----------------------------------------------------------------------------------------------------------


@frozen
class Merge:
    ids: tuple[EntryId, ...]
    title: Words
    body: Words
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Added to the tags of all sources."""
    drops: tuple[str, ...] = ()


@frozen
class SplitPart:
    title: Words
    body: Words
    description: str | None = None
    tags: tuple[str, ...] = ()
    """Without any, the tags of the source."""


@frozen
class Split:
    id: EntryId
    into: tuple[SplitPart, ...]
    drops: tuple[str, ...] = ()


@frozen
class Rename:
    id: EntryId
    title: Words
    drops: tuple[str, ...] = ()


@frozen
class Retag:
    id: EntryId
    tags: tuple[str, ...]


@frozen
class Edit:
    """A passage that occurs exactly once in a note's body is replaced."""

    id: EntryId
    find: Words
    replace: str
    drops: tuple[str, ...] = ()


@frozen
class Archive:
    id: EntryId
    reason: Words


Action = Merge | Split | Rename | Retag | Edit | Archive

KINDS: Mapping[type, str] = {
    Merge: "merge",
    Split: "split",
    Rename: "rename",
    Retag: "retag",
    Edit: "edit",
    Archive: "archive",
}
"""The word for each class of action in the envelope."""


@frozen
class DefragProposal:
    """A defrag reply. `dropped` are the items that did not have the contract's shape; without `tiers` they stay."""

    actions: tuple[Action, ...] = ()
    tiers: TierList | None = None
    dropped: tuple[Dropped, ...] = ()


@frozen
class Due:
    """The notes that a defrag archives whatever an agent proposes, even where none answers."""

    expired: tuple[Archive, ...] = ()
    """Expired longest ago first."""
    surplus: tuple[Archive, ...] = ()
    """Least valuable first: this many notes have to go, by these or by other actions."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in (*self.expired, *self.surplus))


def ids_of(action: Action) -> tuple[str, ...]:
    return action.ids if isinstance(action, Merge) else (action.id,)


def kind_of(action: Action) -> str:
    return KINDS[type(action)]


def fingerprint_of(action: Action, hashes: Mapping[str, str]) -> str:
    """Returns what makes two actions the same for undo: the kind and the inputs, byte for byte, not the wording of the
    result."""
    inputs = sorted(f"{id} {hashes.get(id, '')}" for id in set(ids_of(action)))
    return hashlib.sha256("\n".join((kind_of(action), *inputs)).encode()).hexdigest()[:32]


@frozen
class Deferred:
    """An action over the run's limit, with the content hashes of its notes as the agent was shown them."""

    action: Action
    hashes: Mapping[str, str]


@frozen
class DefragPlan:
    """The actions of one defrag. It is stored before it is applied, so that a replay writes the same bytes."""

    actions: tuple[ChangeGroup, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    refused: tuple[Action, ...] = ()
    """Those of the proposal that an agent may put right."""


@frozen
class DefragFacts:
    """Everything that checking a defrag proposal may depend on."""

    live: Sequence[Listed]
    """The live notes as the agent saw them in the catalog."""
    taken_ids: frozenset[str]
    """Every id in use, casefolded: live ones, aliases, archived ones."""
    shown: Mapping[str, StoredEntry]
    status: Status
    """`captured` for the built-in, `consolidated` for an agent command."""
    now_ms: int
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    undone: frozenset[str] = frozenset()
    live_at_start: int = 0
    force: bool = False
    """Whether a person lifted the limit on how much one run may change."""
    at_hand: Mapping[str, StoredEntry] = field(factory=dict[str, StoredEntry])
    """Notes as they are in the store now that an action names and that were not shown in full, by id: those of an
    action that an earlier run deferred, and those that are only renamed or retagged (`plan_defrag.ids_to_read`)."""
