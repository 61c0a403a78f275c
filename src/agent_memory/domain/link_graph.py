"""What an entry links to and what links to it, and all links of a store at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from attrs import field, frozen

from agent_memory.domain.entry import Listed, Listing, StoredEntry, UnreadableFile
from agent_memory.domain.text.links import find_links


class Whereabouts(StrEnum):
    """Where the target of a link is."""

    LIVE = "live"
    ALIAS = "alias"
    """It was merged into, or divided up by, a live entry."""
    ARCHIVED = "archived"
    UNRESOLVED = "unresolved"


@frozen
class OutgoingLink:
    """A link in an entry's body."""

    target: str
    """As it is written."""
    label: str | None
    where: Whereabouts
    id: str | None
    """Of the entry that it leads to; None for an unresolved one."""
    title: str | None


@frozen
class IncomingLink:
    """A link in another entry's body."""

    id: str
    title: str
    target: str
    """As it is written there: the entry's id, or one of its aliases."""
    label: str | None


@frozen
class Reference:
    """An entry that another one's frontmatter names."""

    id: str
    where: Whereabouts
    title: str | None


@frozen
class LinkSheet:
    """All that ties one entry to others; each link once, in the order in which it stands."""

    outgoing: tuple[OutgoingLink, ...] = ()
    incoming: tuple[IncomingLink, ...] = ()
    supersedes: tuple[Reference, ...] = ()
    superseded_by: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes of which it is not known what they link to (P6)."""


class Relation(StrEnum):
    """How one entry names another."""

    LINKS = "links"
    """In its body."""
    SUPERSEDES = "supersedes"
    """In its frontmatter."""


@frozen
class Edge:
    """One entry naming another, once for each relation and label."""

    source: str
    target: str
    """The id of the entry that it leads to; as it is written where it leads to none."""
    relation: Relation
    label: str | None
    where: Whereabouts


@frozen
class LinkGraph:
    """The live entries, the archived ones that they name, and who names whom."""

    entries: tuple[Listed, ...] = ()
    edges: tuple[Edge, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes of which it is not known what they link to (P6)."""


@frozen
class _Known:
    live: Mapping[str, Listed]
    aliases: Mapping[str, Listed]
    archived: Mapping[str, Listed] = field(factory=dict[str, Listed])

    def find(self, id: str) -> tuple[Whereabouts, Listed | None]:
        for where, entries in (
            (Whereabouts.LIVE, self.live),
            (Whereabouts.ALIAS, self.aliases),
            (Whereabouts.ARCHIVED, self.archived),
        ):
            if id in entries:
                return where, entries[id]
        return Whereabouts.UNRESOLVED, None


def links_of(entry: StoredEntry, bodies: Iterable[StoredEntry], live: Listing, archive: Listing) -> LinkSheet:
    """The links of an entry, live or archived; `bodies` are the entries that may link to it, each looked at once."""
    known = _known(live, archive)
    names = frozenset((entry.meta.id, *entry.meta.aliases))
    outgoing = dict.fromkeys((link.target, link.label) for link in find_links(entry.body))
    return LinkSheet(
        outgoing=tuple(_outgoing(target, label, known) for target, label in outgoing),
        incoming=tuple(link for other in bodies if other.meta.id != entry.meta.id for link in _incoming(other, names)),
        supersedes=tuple(_reference(id, known) for id in entry.meta.supersedes),
        superseded_by=tuple(_reference(id, known) for id in _successors(entry.meta.id, live, archive)),
        aliases=entry.meta.aliases,
    )


def graph_of(
    bodies: Iterable[StoredEntry], live: Listing, archive: Listing, left_out: Collection[str] = ()
) -> LinkGraph:
    """All that these entries name, by the order of `live`; `bodies` are its entries, each looked at once. What is named in
    `left_out` (ids and aliases) is there, but not to be shown, and neither is that it is named."""
    known = _known(live, archive)
    edges = tuple(edge for entry in bodies for edge in _edges(entry, known) if edge.target not in left_out)
    named = {edge.target for edge in edges if edge.where is Whereabouts.ARCHIVED}
    old = (known.archived[id] for id in dict.fromkeys(each.meta.id for each in archive.entries) if id in named)
    return LinkGraph((*live.entries, *old), edges)


def _edges(entry: StoredEntry, known: _Known) -> Iterator[Edge]:
    links = dict.fromkeys((link.target, link.label) for link in find_links(entry.body)) if "[[" in entry.body else {}
    named = [(Relation.LINKS, target, label) for target, label in links]
    named += [(Relation.SUPERSEDES, target, None) for target in entry.meta.supersedes]
    for relation, target, label in named:
        where, listed = known.find(target)
        yield Edge(entry.meta.id, target if listed is None else listed.meta.id, relation, label, where)


def _known(live: Listing, archive: Listing) -> _Known:
    aliases: dict[str, Listed] = {}
    for each in live.entries:
        for alias in each.meta.aliases:
            aliases.setdefault(alias, each)
    by_id = {each.meta.id: each for each in live.entries}
    return _Known(by_id, aliases, {each.meta.id: each for each in archive.entries})


def _outgoing(target: str, label: str | None, known: _Known) -> OutgoingLink:
    where, listed = known.find(target)
    id, title = (None, None) if listed is None else (listed.meta.id, listed.meta.title)
    return OutgoingLink(target, label, where, id, title)


def _incoming(other: StoredEntry, names: frozenset[str]) -> Iterable[IncomingLink]:
    if "[[" not in other.body:
        return ()
    found = dict.fromkeys((link.target, link.label) for link in find_links(other.body) if link.target in names)
    return [IncomingLink(other.meta.id, other.meta.title, target, label) for target, label in found]


def _successors(id: str, live: Listing, archive: Listing) -> Iterable[str]:
    """Ids of the entries that say so now; what an earlier version of a live entry said does not count."""
    newest = {**{each.meta.id: each for each in archive.entries}, **{each.meta.id: each for each in live.entries}}
    return [each.meta.id for each in newest.values() if id in each.meta.supersedes and each.meta.id != id]


def _reference(id: str, known: _Known) -> Reference:
    where, listed = known.find(id)
    return Reference(id, where, None if listed is None else listed.meta.title)
