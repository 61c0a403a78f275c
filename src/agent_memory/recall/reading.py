"""Looking at notes: what `list` and `read` do. It is apart from the service, so that neither loads what only writing
needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from returns.result import Failure

from agent_memory.errors import EntryNotFound, EntryProtected, Error
from agent_memory.note.note import (
    WITHHELD,
    Kind,
    Listed,
    Listing,
    Meta,
    Origin,
    Sensitivity,
    Status,
    StoredEntry,
    Tier,
    TierList,
    UnreadableFile,
    Usage,
    newest_first,
    reads_of,
    shown_to_agents,
    tiers_of,
)
from agent_memory.results import as_result, unwrap
from agent_memory.text.ids import normal_tags

if TYPE_CHECKING:
    from agent_memory.caller import Caller
    from agent_memory.ports import Clock, Notes
    from agent_memory.store.usage_ledger import UsageLedger


def read_anywhere(notes: Notes, id: str) -> StoredEntry:
    """Returns the live note with this id or alias, else the archived one. Counts no read."""
    try:
        return unwrap(notes.read(id))
    except EntryNotFound as absent:
        if not absent.archived:
            raise
        return unwrap(notes.read(id, archived=True))


@frozen
class ReadEntry:
    """A note as `read` shows it."""

    stored: StoredEntry
    usage: Usage
    uncounted: Error | None = None
    """Why this read could not be counted: a full or read-only disk keeps nobody from reading."""
    tier: Tier = Tier.COLD


@frozen
class ListFilter:
    """The choice of notes to list; None accepts all. Every word of `query` must occur in title, description, tags or id. A hot
    note counts as promoted, though its file does not say so. `is_open`: only notes with an unticked check-box, and
    tasks without any. `expired_by_ms`: only notes that have expired by then. `since_ms`: only notes changed then or
    later."""

    status: Status | None = None
    kind: Kind | None = None
    tag: str | None = None
    scope: str | None = None
    query: str | None = None
    is_open: bool = False
    expired_by_ms: int | None = None
    session: str | None = None
    """A session that is among its sources."""
    origin: Origin | None = None
    sensitivity: Sensitivity | None = None
    tier: Tier | None = None
    agent: str | None = None
    """An agent or a harness that is among its sources."""
    since_ms: int | None = None

    def accepts(self, meta: Meta, tier: Tier) -> bool:
        """Returns whether a note of this tier is wanted, as far as can be told without its body."""
        words = (self.query or "").casefold().split()
        said = f"{meta.id} {meta.title} {meta.description} {' '.join(meta.tags)}".casefold() if words else ""
        return (
            self.kind in (None, meta.kind)
            and self.scope in (None, meta.scope)
            and self.origin in (None, meta.origin)
            and self.sensitivity in (None, meta.sensitivity)
            and self.tier in (None, tier)
            and self.status in (None, status_shown(meta.status, tier))
            and (self.tag is None or not set(normal_tags([self.tag])).isdisjoint(meta.tags))
            and (self.session is None or self.session in meta.thread_ids)
            and (self.agent is None or any(self.agent in (each.agent, each.harness) for each in meta.sources))
            and (self.since_ms is None or self.since_ms <= meta.updated_at_ms)
            and (self.expired_by_ms is None or (meta.expires_at_ms or math.inf) <= self.expired_by_ms)
            and all(word in said for word in words)
        )


@frozen(slots=False)
class ShownEntry:
    """A note as `list` shows it; usage includes every host's ledger."""

    listed: Listed
    usage: Usage
    tier: Tier = Tier.COLD
    open_boxes: tuple[str, ...] = ()
    """Its unticked check-boxes, if they were asked for."""


@frozen
class ListedEntries:
    """The answer of `list`, newest first, and the files that could not be read."""

    entries: Sequence[ShownEntry]
    unreadable: tuple[UnreadableFile, ...]
    untiered: Error | None = None
    """Why the tier list could not be read: then only notes that a person vouches for are known to be hot."""


@frozen
class Reading:
    store: Notes
    ledger: UsageLedger
    clock: Clock
    caller: Caller

    @as_result
    def list(self, wanted: ListFilter, *, archived: bool = False) -> ListedEntries:
        """Returns the notes that the filter accepts, last changed first. Counts no read."""
        listing = unwrap(self.store.list(archived=archived))
        listed, untiered = (TierList(), None) if archived else self._tiers()
        tiers: Mapping[str, Tier] = {} if archived else tiers_of(listed, listing.entries)
        totals = unwrap(self.ledger.totals())
        seen = newest_first(self.shown_of(listing).entries)
        found = (ShownEntry(each, reads_of(each.meta, totals), tiers.get(each.meta.id, Tier.COLD)) for each in seen)
        is_asked = wanted != ListFilter()
        entries = [each for each in found if not is_asked or wanted.accepts(each.listed.meta, each.tier)]
        if not wanted.is_open:
            return ListedEntries(tuple(entries), listing.unreadable, untiered)
        from agent_memory.text.markdown import check_boxes

        unread: list[UnreadableFile] = []
        to_do: list[ShownEntry] = []
        for each in entries:
            if each.listed.meta.is_secret:  # only `read --secret` shows it
                continue
            stored = self.read_now(each.listed, unread.append)
            boxes = None if stored is None else check_boxes(stored.body)
            if boxes is not None and (boxes.open or (each.listed.meta.kind is Kind.TASK and not boxes.done)):
                to_do.append(evolve(each, open_boxes=boxes.open))
        return ListedEntries(tuple(to_do), (*listing.unreadable, *unread), untiered)

    def tier_of(self, listed: Listed) -> Tier:
        """Returns the tier of one note; without a readable tier list, a note is hot if a person vouches for it."""
        if listed.archived:
            return Tier.COLD
        return tiers_of(self._tiers()[0], [listed]).get(listed.meta.id, Tier.COLD)

    def _tiers(self) -> tuple[TierList, Error | None]:
        tiers = self.store.tiers()
        return (TierList(), tiers.failure()) if isinstance(tiers, Failure) else (tiers.unwrap(), None)

    @as_result
    def read(self, id: str, *, archived: bool = False, secret: bool = False) -> ReadEntry:
        """Returns the whole note, by id or alias, and counts one more read in the ledger."""
        stored = unwrap(self.store.read(id, archived=archived))
        # An earlier text may be older than the secret.
        now = self.store.read(stored.meta.id).value_or(stored) if archived else stored
        if (stored.meta.is_secret or now.meta.is_secret) and not (secret and not self.caller.is_agent):
            raise EntryProtected(id, "reading without --secret", "secret")
        meta = stored.meta
        self.require_shown(id, meta, "reading by an agent")
        if self.caller.is_agent:  # a person may have written a secret into the file (P20)
            from agent_memory.redaction.redact import redact  # which takes longer to load than a person's read

            stored = evolve(stored, body=redact(stored.body).text)
        if stored.listed.is_team:  # nobody's ledger counts it
            return ReadEntry(stored, Usage(0, None), tier=self.tier_of(stored.listed))
        uncounted: Error | None = None
        try:
            unwrap(self.ledger.append(meta.id, self.clock.now_ms(), self.caller.harness))
            totals = unwrap(self.ledger.totals())
        except Error as error:
            uncounted, totals = error, self.ledger.totals().value_or(dict[str, Usage]())
        return ReadEntry(stored, reads_of(meta, totals), uncounted, self.tier_of(stored.listed))

    def read_now(self, listed: Listed, tell: Callable[[UnreadableFile], None]) -> StoredEntry | None:
        """Returns the whole note; None if it is gone since it was listed, or cannot be read, of which it warns (P6)."""
        try:
            return unwrap(self.store.read_again(listed))
        except EntryNotFound:
            return None
        except Error as error:
            tell(UnreadableFile(listed.path, (str(error),)))
            return None

    def shown_of(self, listing: Listing) -> Listing:
        """Returns the listing without secret and withheld notes where an agent asks: it does not even learn of them."""
        return Listing(self.seen(listing.entries)) if self.caller.is_agent else listing

    def seen(self, entries: Sequence[Listed]) -> Sequence[Listed]:
        """Returns those of the notes of which the caller may learn."""
        return shown_to_agents(entries) if self.caller.is_agent else entries

    def require_shown(self, id: str, meta: Meta, act: str) -> None:
        """Raises EntryProtected where an agent asks for a note that is secret or waits for approval."""
        if self.caller.is_agent and (meta.is_secret or meta.withheld):
            raise EntryProtected(id, act, "secret" if meta.is_secret else WITHHELD)

    def hidden_ids(self) -> frozenset[str]:
        """Returns the notes of which nothing past is shown: those that are secret now, and to an agent those that wait for
        approval."""
        notes = (each.meta for listing in unwrap(self.store.listings()) for each in listing.entries)
        return frozenset(meta.id for meta in notes if meta.is_secret or (meta.withheld and self.caller.is_agent))


def status_shown(status: Status, tier: Tier) -> Status:
    """Returns the status that people see: `promoted` for a hot note, whether a person or defrag made it hot."""
    return Status.PROMOTED if tier is Tier.HOT else status
