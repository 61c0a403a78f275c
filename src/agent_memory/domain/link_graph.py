"""What an entry links to, and what links to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from agent_memory.domain.entry import Listed, Listing, StoredEntry, UnreadableFile
from agent_memory.domain.text.links import find_links
from agent_memory.values import field, frozen


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
