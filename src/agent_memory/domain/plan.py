"""A change set once checked against the store: exactly what will be written, ids minted."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from attrs import field, frozen

from agent_memory.domain.change import Change, Dropped
from agent_memory.domain.change_set import ProposedEntry
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.entry_lookup import EntryLookup, Found
from agent_memory.domain.history import History
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.vocabulary import Status


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
    session_id: str
    window: History
    """The turns that the agent was shown, with their session's facts."""
    scope: str
    """The session's scope key; `global` outside a repository."""
    live: Sequence[Listed]
    """Every live entry of the store."""
    taken_ids: Container[str]
    """Every id that is not free, casefolded: live, aliases, archived."""
    shown: Mapping[str, StoredEntry]
    """The entries that were shown in full, by id."""
    status: Status
    """`captured` for the built-in, `consolidated` for an agent command."""
    now_ms: int
    changed_before: frozenset[str] = frozenset()
    """Ids already changed or archived in this run, for the run-wide limit."""
    live_at_start: int = 0
    """Number of live entries when the run began."""
    handoff_id: str | None = None
    """The session's own handoff, which its later windows may replace."""
    handoff_days: int = 7
    vocabulary: TagVocabulary = TagVocabulary()
    """By which tags get their present names."""
    agent_writes: bool = False
    """The note comes from an agent (an inline capture inside a harness): its origin is at best `agent`."""
    similar: Mapping[ProposedEntry, tuple[StoredEntry, ...]] = field(
        factory=dict[ProposedEntry, tuple[StoredEntry, ...]]
    )
    """The live notes about the same subject as a proposed entry, the likest first."""
    lookup: EntryLookup = field(factory=EntryLookup, repr=False)
    """For `found`: that of the listing that `live` comes from."""
    session: History | None = None
    """All turns of the session that are known, whole, where they are more than the window: whose word something is shows
    by comparing with all of them."""

    @property
    def found(self) -> Found:
        """The live entries, by what they are asked for."""
        return self.lookup.among(self.live)
