"""Several entries become one, and one becomes several: new entries, the old ones archived (P12)."""

from __future__ import annotations

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.actions import Merge, Split, SplitPart
from agent_memory.domain.change import Create, Retire
from agent_memory.domain.defragging.comparable import said_by
from agent_memory.domain.defragging.fresh_text import origin_of_fresh_text
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.defragging.information import information_problems
from agent_memory.domain.defragging.results import Outcome, Reasons, linked_bodies
from agent_memory.domain.defragging.united import ids_and_aliases, part_meta, united_meta, with_origin
from agent_memory.domain.entry import MemoryEntry, Meta, StoredEntry
from agent_memory.domain.planning.drafts import (
    body_problems,
    stored_body,
    stored_description,
    stored_line,
    stored_title,
    title_problems,
)
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.vocabulary import Origin


@frozen
class _Part:
    """The text of one new entry, fit to be stored."""

    title: str
    body: str
    description: str
    tags: tuple[str, ...]


def merged(action: Merge, sources: tuple[StoredEntry, ...], ground: Ground) -> Result[Outcome, Reasons]:
    """The merge of these entries, which may be touched; or every reason why there is none."""
    if len(sources) < 2:
        return Failure(("a merge takes two or more different entries",))
    if len({each.meta.scope for each in sources}) > 1:
        return Failure(("its entries belong to different repositories, or to one and to all",))
    part = _part(action)
    if problems := _text_problems((part,), sources):
        return Failure(problems)
    entries = tuple(each.entry for each in sources)
    at_ms = max(each.meta.created_at_ms for each in sources)
    meta = united_meta(mint_id(part.title, at_ms, ground.taken_ids), part.title, entries, part.tags, ground)
    return _new_entries(((meta, part),), sources, action.drops, ground)


def split(action: Split, source: StoredEntry, ground: Ground) -> Result[Outcome, Reasons]:
    """The parts of this entry, which may be touched; or every reason why there are none."""
    parts = tuple(map(_part, action.into))
    if len(parts) < 2:
        return Failure(("a split makes two or more entries",))
    if len({folded_name(part.title) for part in parts}) < len(parts):
        return Failure(("two of its parts have the same title",))
    if problems := _text_problems(parts, (source,)):
        return Failure(problems)
    metas: list[Meta] = []
    taken = ground.taken_ids
    for part in parts:
        id = mint_id(part.title, source.meta.created_at_ms, taken)
        taken.add(id)
        metas.append(part_meta(id, part.title, source.entry, part.tags, ground))
    metas[0] = evolve(metas[0], aliases=ids_and_aliases((source.meta,)))
    return _new_entries(tuple(zip(metas, parts, strict=True)), (source,), (), ground)


def _new_entries(
    drafts: tuple[tuple[Meta, _Part], ...], sources: tuple[StoredEntry, ...], drops: tuple[str, ...], ground: Ground
) -> Result[Outcome, Reasons]:
    entries = tuple(each.entry for each in sources)
    bodies, unlinked = linked_bodies(
        {meta.id: part.body for meta, part in drafts}, entries, drafts[0][0].id, drops, ground
    )
    results = tuple(
        MemoryEntry(evolve(meta, description=part.description or derive_description(bodies[meta.id])), bodies[meta.id])
        for meta, part in drafts
    )
    problems = information_problems(entries, results, drops) + _name_problems(results, ground)
    if problems:
        return Failure(problems)
    before = "\n".join(map(said_by, entries))
    judged = tuple(_judged(each, before, ground) for each in results)
    retired = tuple(Retire(each.meta.id, each.listed.content_hash) for each in sources)
    return Success(Outcome((*retired, *map(Create, judged)), tuple(each.meta.id for each in judged), unlinked))


def _judged(entry: MemoryEntry, before: str, ground: Ground) -> MemoryEntry:
    """The entry with its origin. A description that would make it less trusted is not worth that: the body has its own."""
    fresh = origin_of_fresh_text(before, said_by(entry), ground.untrusted)
    plain = evolve(entry, meta=evolve(entry.meta, description=derive_description(entry.body)))
    if (
        fresh is not Origin.USER
        and (of_plain := origin_of_fresh_text(before, said_by(plain), ground.untrusted)) != fresh
    ):
        entry, fresh = plain, of_plain
    return evolve(entry, meta=with_origin(entry.meta, fresh))


def _part(proposed: Merge | SplitPart) -> _Part:
    return _Part(
        stored_title(proposed.title),
        stored_body(proposed.body),
        stored_description(proposed.description or ""),
        proposed.tags,
    )


def _text_problems(parts: tuple[_Part, ...], sources: tuple[StoredEntry, ...]) -> Reasons:
    before = "\n".join(each.body for each in sources)
    problems = ((part, title_problems(part.title) + body_problems(part.body, before)) for part in parts)
    return tuple(
        f"{stored_line(part.title, 40)!r}: {reason}" if len(parts) > 1 else reason
        for part, reasons in problems
        for reason in reasons
    )


def _name_problems(results: tuple[MemoryEntry, ...], ground: Ground) -> Reasons:
    clash = any(folded_name(file_name_of(each.meta)) in ground.names for each in results)
    return ("another file has the name that it would get",) if clash else ()
