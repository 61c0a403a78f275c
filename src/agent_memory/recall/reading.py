"""Looking at notes: what `list` and `read` do. It is apart from the service, so that neither loads what only writing
needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
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
    Relation,
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
from agent_memory.text.markdown import find_links

if TYPE_CHECKING:
    from agent_memory.caller import Caller
    from agent_memory.ports import Clock, Notes
    from agent_memory.store.usage_ledger import UsageLedger

# -- what a note links to, and what links to it -----------------------------------------------------------------------


class Whereabouts(StrEnum):
    """Where the target of a link is."""

    LIVE = "live"
    ALIAS = "alias"
    """It became a part of a live note by a merge or a split."""
    ARCHIVED = "archived"
    UNRESOLVED = "unresolved"


@frozen
class Link:
    target: str
    """The id or alias as it is written there."""
    label: str | None
    where: Whereabouts
    id: str | None
    """The id of the note to which it leads; None for an unresolved one."""
    title: str | None


@frozen
class Backlink:
    id: str
    title: str
    target: str
    """The id or alias that it uses."""
    label: str | None


@frozen
class Succession:
    """A note that another one supersedes, or that supersedes another one."""

    id: str
    where: Whereabouts
    title: str | None
    now: str | None = None
    """The id of the note that it became a part of."""


@frozen
class LinkSheet:
    """The answer of `memory links ID`; each link once, in order."""

    id: str
    title: str
    archived: bool
    outgoing: tuple[Link, ...]
    incoming: tuple[Backlink, ...]
    supersedes: tuple[Succession, ...]
    superseded_by: tuple[Succession, ...]
    aliases: tuple[str, ...]
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes whose links are unknown (P6)."""


@frozen
class Edge:
    """One note that names another, once for each relation and label."""

    source: str
    target: str
    """The id of the note to which it leads; if it leads to none, the target as it is written."""
    relation: Relation
    label: str | None
    where: Whereabouts


@frozen
class LinkGraph:
    """The answer of `memory links`: the live notes, the archived ones that they name, and who names whom."""

    notes: tuple[Listed, ...]
    links: tuple[Edge, ...]
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes whose links are unknown (P6)."""


def _known(live: Listing, archive: Listing) -> Mapping[str, tuple[Whereabouts, Listed]]:
    """Returns, for each id that leads anywhere, where it leads, and the note."""
    aliases = {alias: each for each in reversed(live.entries) for alias in each.meta.aliases}
    kinds = ((Whereabouts.ARCHIVED, archive.by_id), (Whereabouts.ALIAS, aliases), (Whereabouts.LIVE, live.by_id))
    return {id: (where, each) for where, entries in kinds for id, each in entries.items()}


def _links_in(entry: StoredEntry) -> Iterable[tuple[str, str | None]]:
    if "[[" not in entry.body:
        return ()
    return dict.fromkeys((link.target, link.label) for link in find_links(entry.body))


def read_anywhere(notes: Notes, id: str) -> StoredEntry:
    """Returns the live note with this id or alias, else the archived one. Counts no read."""
    try:
        return unwrap(notes.read(id))
    except EntryNotFound as absent:
        if not absent.archived:
            raise
        return unwrap(notes.read(id, archived=True))


# -- list and read ----------------------------------------------------------------------------------------------------


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
        seen = newest_first(self._seen(listing).entries)
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
            stored = self._read_now(each.listed, unread.append)
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

    @as_result
    def links(self, id: str) -> LinkSheet:
        """Returns the links of a note, live or archived, by id or alias, each once. Counts no read."""
        from agent_memory.rules.tiers import title_for

        stored = read_anywhere(self.store, id)
        meta = stored.meta
        self.require_shown(id, meta, "reading by an agent")
        listings = unwrap(self.store.listings())
        live, archive = map(self._seen, listings)
        known, unread = _known(live, archive), list[UnreadableFile]()

        def leads(target: str) -> tuple[Whereabouts, str | None, str | None]:
            if target not in known:
                return Whereabouts.UNRESOLVED, None, None
            where, note = known[target]
            return where, note.meta.id, title_for(self.caller, note)

        def succession(ids: Iterable[str]) -> tuple[Succession, ...]:
            found = ((each, *leads(each)) for each in ids)
            return tuple(
                Succession(each, where, title, now if where is Whereabouts.ALIAS else None)
                for each, where, now, title in found
            )

        others = (each.meta for each in (*archive.entries, *live.entries) if each.meta.id != meta.id)
        return LinkSheet(
            id=meta.id,
            title=meta.title,
            archived=stored.listed.archived,
            outgoing=tuple(Link(target, label, *leads(target)) for target, label in _links_in(stored)),
            incoming=tuple(
                Backlink(other.meta.id, title_for(self.caller, other.listed), target, label)
                for other in self._bodies(live, unread.append)
                for target, label in _links_in(other)
                if target in meta.all_ids and other.meta.id != meta.id
            ),
            supersedes=succession(meta.supersedes),
            superseded_by=succession(each.id for each in others if meta.id in each.supersedes),
            aliases=meta.aliases,
            unreadable=(*listings[0].unreadable, *listings[1].unreadable, *unread),
        )

    @as_result
    def link_graph(self, *, private: bool = False) -> LinkGraph:
        """Returns all links between live notes, and to archived ones. Secret notes are left out, private ones unless
        asked for: the graph is meant to be taken elsewhere. Counts no read."""
        kept = frozenset({Sensitivity.NORMAL, *((Sensitivity.PRIVATE,) if private else ())})
        live, archive = unwrap(self.store.listings())
        unread: list[UnreadableFile] = []
        live_shown, archive_shown = (
            self._seen(Listing(tuple(each for each in listing.entries if each.meta.sensitivity in kept)))
            for listing in (live, archive)
        )
        shown = frozenset(id for each in (*live_shown.entries, *archive_shown.entries) for id in each.meta.all_ids)
        left_out = frozenset(id for each in (*live.entries, *archive.entries) for id in each.meta.all_ids) - shown
        bodies = self._bodies(live_shown, unread.append)
        known = _known(live_shown, archive_shown)
        edges: list[Edge] = []
        for entry in bodies:
            told = [(Relation.LINKS, target, label) for target, label in _links_in(entry)]
            told += [(Relation.SUPERSEDES, target, None) for target in entry.meta.supersedes]
            for relation, target, label in told:
                where, note = known.get(target, (Whereabouts.UNRESOLVED, None))
                id = target if note is None else note.meta.id
                if id not in left_out:  # nor may it be shown that they are named
                    edges.append(Edge(entry.meta.id, id, relation, label, where))
        linked = {edge.target for edge in edges if edge.where is Whereabouts.ARCHIVED}
        links = LinkGraph(
            (*live_shown.entries, *(each for id, each in archive_shown.by_id.items() if id in linked)), tuple(edges)
        )
        return evolve(links, unreadable=(*live.unreadable, *unread))

    def _bodies(self, live: Listing, tell: Callable[[UnreadableFile], None]) -> Iterator[StoredEntry]:
        """Yields the notes that the caller may see; warns of what cannot be read just now."""
        read = (self._read_now(each, tell) for each in self._seen(live).entries)
        return (each for each in read if each is not None)

    def _read_now(self, listed: Listed, tell: Callable[[UnreadableFile], None]) -> StoredEntry | None:
        """Returns the whole note; None if it is gone since it was listed, or cannot be read, of which it warns (P6)."""
        try:
            return unwrap(self.store.read_again(listed))
        except EntryNotFound:
            return None
        except Error as error:
            tell(UnreadableFile(listed.path, (str(error),)))
            return None

    def _seen(self, listing: Listing) -> Listing:
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
