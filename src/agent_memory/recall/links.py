"""What a note links to, and what links to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum

from attrs import frozen

from agent_memory.note.note import Listed, Listing, Relation, StoredEntry, UnreadableFile
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


def links_of(
    entry: StoredEntry,
    bodies: Iterable[StoredEntry],
    live: Listing,
    archive: Listing,
    title_of: Callable[[Listed], str],
) -> LinkSheet:
    """Returns the links of a note, live or archived; `bodies` are those that may link to it, each read once. `title_of` gives
    the titles of the others."""
    known, id = _known(live, archive), entry.meta.id
    others = (each.meta for each in (*archive.entries, *live.entries) if each.meta.id != id)
    successors = (each.id for each in others if id in each.supersedes)

    def leads(target: str) -> tuple[Whereabouts, str | None, str | None]:
        if target not in known:
            return Whereabouts.UNRESOLVED, None, None
        where, note = known[target]
        return where, note.meta.id, title_of(note)

    def succession(ids: Iterable[str]) -> tuple[Succession, ...]:
        found = ((each, *leads(each)) for each in ids)
        return tuple(
            Succession(each, where, title, now if where is Whereabouts.ALIAS else None)
            for each, where, now, title in found
        )

    return LinkSheet(
        id=id,
        title=entry.meta.title,
        archived=entry.listed.archived,
        outgoing=tuple(Link(target, label, *leads(target)) for target, label in _links_in(entry)),
        incoming=tuple(
            Backlink(other.meta.id, title_of(other.listed), target, label)
            for other in bodies
            for target, label in _links_in(other)
            if target in entry.meta.all_ids and other.meta.id != id
        ),
        supersedes=succession(entry.meta.supersedes),
        superseded_by=succession(successors),
        aliases=entry.meta.aliases,
    )


def graph_of(
    bodies: Iterable[StoredEntry], live: Listing, archive: Listing, left_out: Collection[str] = ()
) -> LinkGraph:
    """Returns everything that these notes name, in the order of `live`; `bodies` are theirs, each read once. Ids and
    aliases in `left_out` exist but must not be shown, nor that they are named."""
    known = _known(live, archive)
    edges: list[Edge] = []
    for entry in bodies:
        told = [(Relation.LINKS, target, label) for target, label in _links_in(entry)]
        told += [(Relation.SUPERSEDES, target, None) for target in entry.meta.supersedes]
        for relation, target, label in told:
            where, note = known.get(target, (Whereabouts.UNRESOLVED, None))
            id = target if note is None else note.meta.id
            if id not in left_out:
                edges.append(Edge(entry.meta.id, id, relation, label, where))
    linked = {edge.target for edge in edges if edge.where is Whereabouts.ARCHIVED}
    return LinkGraph((*live.entries, *(each for id, each in archive.by_id.items() if id in linked)), tuple(edges))


def _links_in(entry: StoredEntry) -> Iterable[tuple[str, str | None]]:
    if "[[" not in entry.body:
        return ()
    return dict.fromkeys((link.target, link.label) for link in find_links(entry.body))
