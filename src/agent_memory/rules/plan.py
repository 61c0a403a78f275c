"""What an agent proposes for a session, what of it will be written, and how much one run may change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

from attrs import evolve, field, frozen

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Confidence, Listed, MemoryEntry, StoredEntry, TurnNumber, body_hash
from agent_memory.note.tagging import TagVocabulary
from agent_memory.note.vocabulary import Importance, Kind, Status
from agent_memory.rules.change import Change, Create, Dropped, Replace, Retire
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry
from agent_memory.text.ids import EntryId
from agent_memory.text.plain_text import Words
from agent_memory.text.value_rules import shown


def _ref_problem(ref: str) -> str | None:
    return None if re.fullmatch(r"[\w.-]{1,64}", ref) else f"is {shown(ref)}, expected a short word"


@frozen
class ProposedEntry:
    """A new entry. `links` and `[[…]]` in `body` hold `id__…` or `ref:…` of the same reply."""

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
    """A change of a live entry that was shown in full; what is None stays as it is."""

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
    """A consolidate reply. `dropped` are the items that were not of the contract's shape."""

    entries: tuple[ProposedEntry, ...] = ()
    updates: tuple[ProposedUpdate, ...] = ()
    skipped: str | None = None
    dropped: tuple[Dropped, ...] = ()


@frozen
class Plan:
    """What one session changes. Stored before it is applied, so that a replay writes the same bytes."""

    changes: tuple[Change, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    skipped: str | None = None
    deferred: tuple[Change, ...] = ()
    """Checked like `changes`, but over the run's limit: to be admitted first in the next run (`run_limits.admit`)."""


@frozen
class PlanFacts:
    """All that checking one window's change set may depend on."""

    entry: InboxEntry
    window: History
    scope: str
    """The session's scope key; `global` outside a repository."""
    live: Sequence[Listed]
    taken_ids: frozenset[str]
    """Every id that is not free, casefolded: live, aliases, archived."""
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
    """The live notes about the same subject as a proposed entry, the likest first."""
    session: History | None = None
    """All turns of the session that are known, whole, where they are more than the window: whose word something is shows
    by comparing with all of them."""


PLANNED_HASH = "planned"
"""In the place of the content hash of an entry that is not written yet."""


def planned_entries(plan: Plan) -> dict[str, MemoryEntry]:
    """The entries that the plan writes, as it writes them, by id."""
    return {change.entry.meta.id: change.entry for change in plan.changes if isinstance(change, Create | Replace)}


def stored_when_applied(plan: Plan, live: Sequence[Listed]) -> dict[str, StoredEntry]:
    """The entries that the plan writes as if they were read from the store, by id. A replaced one keeps its present content
    hash, on which its change depends; a new one has `PLANNED_HASH`."""
    planned = planned_entries(plan)
    known = {each.meta.id: each for each in live if each.meta.id in planned}
    stored: dict[str, StoredEntry] = {}
    for id, entry in planned.items():
        before = known.get(id) or Listed(entry.meta, f"topics/{file_name_of(entry.meta)}", PLANNED_HASH)
        listed = evolve(before, meta=entry.meta, body_hash=body_hash(entry.body))
        stored[id] = StoredEntry(listed, entry.body)
    return stored


def live_when_applied(plan: Plan, live: Sequence[Listed], written: Mapping[str, StoredEntry]) -> Sequence[Listed]:
    """The live entries once the plan is applied, which writes these (`stored_when_applied`): changed ones in their place, retired
    ones gone, new ones last."""
    gone = {change.id for change in plan.changes if isinstance(change, Retire)}
    before = {each.meta.id: each for each in live if each.meta.id not in gone}
    return tuple((before | {id: each.listed for id, each in written.items()}).values())


_ALWAYS_ALLOWED = 3
_SHARE = 4


def max_changes(live_at_start: int) -> int:
    """How many live entries one run may change or archive: a quarter of them, at least 3."""
    return max(_ALWAYS_ALLOWED, live_at_start // _SHARE)


def admit(
    changes: Iterable[Change], changed_before: frozenset[str], live_at_start: int
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """The changes within the run's limit, and the rest, to be taken up again by the next run. New entries always pass; an id
    that the run has changed before counts once."""
    limit = max_changes(live_at_start)
    changed = set(changed_before)
    now: list[Change] = []
    later: list[Change] = []
    for change in changes:
        id = changed_id(change)
        if id is None or id in changed or len(changed) < limit:
            now.append(change)
            changed.update([id] if id else [])
        else:
            later.append(change)
    return tuple(now), tuple(later)


def changed_id(change: Change) -> str | None:
    """The live entry that it changes or archives; None for what only adds one."""
    if isinstance(change, Replace):
        return change.entry.meta.id
    return change.id if isinstance(change, Retire) else None


def changed_ids(changes: Iterable[Change]) -> frozenset[str]:
    return frozenset(id for id in map(changed_id, changes) if id is not None)
