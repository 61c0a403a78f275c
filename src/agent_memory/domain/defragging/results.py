"""What one action comes to."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from attrs import frozen

from agent_memory.domain.change import Change
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.planning.body_checks import MAX_BODY_CHARS
from agent_memory.domain.planning.linking import link_body
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also

Reasons = tuple[str, ...]


@frozen
class Outcome:
    """The changes that carry an action out, and the ids that it creates, in order."""

    changes: tuple[Change, ...]
    new_ids: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    """Targets of links that lead nowhere and are plain text now."""


def linked_bodies(
    bodies: dict[str, str], sources: Iterable[MemoryEntry], heir: str, drops: tuple[str, ...], ground: Ground
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The bodies by new id with their links resolved, and the targets that lead nowhere.

    The ids of the sources mean `heir` from now on. A link that a source held and no body holds any more is appended to
    the heir's, unless `drops` names it or there is no room.
    """
    sources = tuple(sources)
    own = {id: heir for each in sources for id in (each.meta.id, *each.meta.aliases)}
    targets = ground.targets({**own, **{id: id for id in bodies}})
    linked = {id: link_body(_without_own(body, own, id == heir), (), targets, id) for id, body in bodies.items()}
    texts = {id: each.body for id, each in linked.items()}
    held = {targets.id_of(link.target) for text in texts.values() for link in find_links(text)}
    wanted = {targets.id_of(link.target): link.target for each in sources for link in find_links(each.body)}
    lost = {id: target for id, target in wanted.items() if id is not None and id not in {*held, *own, heir}}
    missing = [id for id, target in lost.items() if not any(id in drop or target in drop for drop in drops)]
    extended = append_see_also(texts[heir], missing)
    if len(extended) <= MAX_BODY_CHARS:
        texts[heir] = extended
    return texts, tuple(dict.fromkeys(chain.from_iterable(each.unknown for each in linked.values())))


def _without_own(body: str, own: dict[str, str], is_heir: bool) -> str:
    """The heir's body without links to itself in its last line of links, where they would leave a bare id behind."""
    core = without_see_also(body)
    last = [link for link in find_links(body) if link.start >= len(core)]
    if not is_heir or not any(link.target in own for link in last):
        return body
    rest = body[len(core) :]
    for link in last:
        rest = rest.replace(body[link.start : link.end], "")
    if any(character.isalnum() for character in rest.replace("See also:", "")):
        return body
    return append_see_also(core, [link.target for link in last if link.target not in own])
