"""Which ids are taken, and the links of a proposed text, made to point at entries that exist (P15)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from attrs import frozen

from agent_memory.domain.change import Dropped
from agent_memory.domain.entry import Listed, Listing
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.text.ids import ID_PATTERN
from agent_memory.domain.text.links import append_see_also, find_links

# In code too: whoever checks a file for links that lead nowhere need not know what is code.
_ID_LINK = re.compile(rf"\[\[({ID_PATTERN})(?:\|([^\[\]\n]*))?\]\]")
_ID = re.compile(ID_PATTERN)


_MAX_TARGET_CHARS = 80
NOT_KEPT = "a note that was not kept"


@frozen
class Targets:
    """What a link of one reply may point at."""

    by_ref: Mapping[str, str]
    """Ids of the entries of the same reply, by ref."""
    live: Mapping[str, str]
    """Ids of live and planned entries and their aliases as they are spelled, by casefolded id."""
    taken: Container[str]
    """Every id in use, casefolded, archived ones too."""

    def id_of(self, target: str) -> str | None:
        """The id that `id__…`, `ref:…` or a bare ref stands for; None where there is no such entry."""
        if not _ID.fullmatch(target):
            return self.by_ref.get(target.removeprefix("ref:"))
        folded = target.casefold()
        return self.live.get(folded) or (target if folded in self.taken else None)


@frozen
class Linked:
    """A body whose links all lead somewhere, and the targets that lead nowhere and are plain text now."""

    body: str
    unknown: tuple[str, ...] = ()


def link_body(body: str, also: tuple[str, ...], targets: Targets, own_id: str) -> Linked:
    """The body with refs and ids resolved and the missing ones of `also` appended under `See also:`.

    A link to an unknown entry becomes its label, else the bare id; one to a note of the same reply that was not kept is
    called that, and not by a title that nobody checked. An entry does not link to itself.
    """
    unknown: list[str] = []
    parts, position = list[str](), 0
    for link in find_links(body):
        id = targets.id_of(link.target)
        if id is None:
            unknown.append(link.target)
        label = f"|{link.label}" if link.label else ""
        plain = link.label or (NOT_KEPT if link.target.startswith("ref:") else link.target)
        parts += [body[position : link.start], plain if id is None or id == own_id else f"[[{id}{label}]]"]
        position = link.end
    text = "".join((*parts, body[position:]))
    text = _ID_LINK.sub(lambda link: link[0] if targets.id_of(link[1]) else link[2] or link[1], text)
    wanted = [(target, targets.id_of(target.strip("[] "))) for target in also]
    unknown += [target for target, id in wanted if id is None]
    linked = append_see_also(text, [id for _, id in wanted if id is not None and id != own_id])
    return Linked(linked, tuple(dict.fromkeys(unknown)))


def unlinked(subject: str, unknown: Iterable[str]) -> list[Dropped]:
    """What a report says of the links of one entry that lead nowhere."""
    links = tuple(
        f"a link to {stored_line(target, _MAX_TARGET_CHARS)} leads nowhere and was left out" for target in unknown
    )
    return [Dropped(subject, links)] if links else []


def taken_ids(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is not free, casefolded: live, archived, and their aliases."""
    return frozenset(map(str.casefold, borne_ids((*live.entries, *archive.entries))))


def borne_ids(entries: Iterable[Listed]) -> Iterator[str]:
    """The ids of these entries and their aliases."""
    for each in entries:
        yield each.meta.id
        yield from each.meta.aliases
