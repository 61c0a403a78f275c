"""What a note links to, and what links to it: `memory links`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from attrs import evolve, frozen

from agent_memory.note.note import Listed, Listing, Relation, Sensitivity, StoredEntry, UnreadableFile
from agent_memory.recall.reading import Reading, read_anywhere
from agent_memory.results import unwrap
from agent_memory.rules.tiers import title_for
from agent_memory.text.markdown import find_links


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


def link_sheet(reading: Reading, id: str) -> LinkSheet:
    """Returns the links of a note, live or archived, by id or alias, each once. Counts no read."""
    stored = read_anywhere(reading.store, id)
    meta = stored.meta
    reading.require_shown(id, meta, "reading by an agent")
    listings = unwrap(reading.store.listings())
    live, archive = map(reading.shown_of, listings)
    known, unread = _known(live, archive), list[UnreadableFile]()

    def leads(target: str) -> tuple[Whereabouts, str | None, str | None]:
        if target not in known:
            return Whereabouts.UNRESOLVED, None, None
        where, note = known[target]
        return where, note.meta.id, title_for(reading.caller, note)

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
            Backlink(other.meta.id, title_for(reading.caller, other.listed), target, label)
            for other in _bodies(reading, live, unread.append)
            for target, label in _links_in(other)
            if target in meta.all_ids and other.meta.id != meta.id
        ),
        supersedes=succession(meta.supersedes),
        superseded_by=succession(each.id for each in others if meta.id in each.supersedes),
        aliases=meta.aliases,
        unreadable=(*listings[0].unreadable, *listings[1].unreadable, *unread),
    )


def link_graph(reading: Reading, *, private: bool = False) -> LinkGraph:
    """Returns all links between live notes, and to archived ones. Secret notes are left out, private ones unless
    asked for: the graph is meant to be taken elsewhere. Counts no read."""
    kept = frozenset({Sensitivity.NORMAL, *((Sensitivity.PRIVATE,) if private else ())})
    live, archive = unwrap(reading.store.listings())
    unread: list[UnreadableFile] = []
    live_shown, archive_shown = (
        reading.shown_of(Listing(tuple(each for each in listing.entries if each.meta.sensitivity in kept)))
        for listing in (live, archive)
    )
    shown = frozenset(id for each in (*live_shown.entries, *archive_shown.entries) for id in each.meta.all_ids)
    left_out = frozenset(id for each in (*live.entries, *archive.entries) for id in each.meta.all_ids) - shown
    bodies = _bodies(reading, live_shown, unread.append)
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


def _bodies(reading: Reading, live: Listing, tell: Callable[[UnreadableFile], None]) -> Iterator[StoredEntry]:
    """Yields the notes that the caller may see; warns of what cannot be read just now."""
    read = (reading.read_now(each, tell) for each in reading.shown_of(live).entries)
    return (each for each in read if each is not None)
