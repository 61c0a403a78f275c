"""What one action comes to: new entries for old ones (merge, split), or a new version of one (rename, retag, edit)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from attrs import evolve, frozen

from agent_memory.domain.actions import Edit, Merge, Rename, Retag, Split, SplitPart
from agent_memory.domain.change import Change, Create, Retire
from agent_memory.domain.defragging.changed_claims import invented_words, swapped_words
from agent_memory.domain.defragging.fresh_text import origin_of_fresh_text
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.defragging.information import information_problems, loss_problems, said_by
from agent_memory.domain.editing import kept_description
from agent_memory.domain.entry import MemoryEntry, Meta, Source, StoredEntry
from agent_memory.domain.planning.drafts import (
    MAX_BODY_CHARS,
    Refused,
    body_problems,
    stored_body,
    stored_description,
    stored_line,
    stored_tags,
    stored_title,
    title_problems,
)
from agent_memory.domain.planning.entry_updates import with_links
from agent_memory.domain.planning.linking import link_body
from agent_memory.domain.planning.origin import with_source
from agent_memory.domain.planning.salience import salient_tokens, statements
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.file_name import file_name_of, folded_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, furthest, highest, least_trusted, strictest

Reasons = tuple[str, ...]


_NAME_TAKEN = "another file has the name that it would get"


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


# -- frontmatter (design §3.2) --------------------------------------------------------------------------------------


def united_meta(id: str, title: str, sources: tuple[MemoryEntry, ...], tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of a merge, but for description and what its own text does to its origin.

    Strictest sensitivity, least trusted origin, highest importance, lowest confidence, kind of the first, newest creation
    and validity, tags and sources united, an end only where all have one. Never pinned.
    """
    metas = tuple(each.meta for each in sources)
    origin = least_trusted(meta.origin for meta in metas)
    used = tuple(map(ground.used, metas))
    return Meta(
        id=id,
        title=title,
        created_at_ms=max(meta.created_at_ms for meta in metas),
        updated_at_ms=max(ground.facts.now_ms, *(meta.updated_at_ms for meta in metas)),
        kind=metas[0].kind,
        tags=stored_tags((*(tag for meta in metas for tag in meta.tags), *tags)),
        status=furthest((*(meta.status for meta in metas), ground.facts.status)),
        origin=origin,
        scope=metas[0].scope,
        importance=highest(meta.importance for meta in metas),
        confidence=min((meta.confidence for meta in metas if meta.confidence is not None), default=None),
        sensitivity=strictest(meta.sensitivity for meta in metas),
        promoted_by=_vouched_by(sources),
        used=sum(each.count for each in used),
        last_used_at_ms=max((each.last_at_ms for each in used if each.last_at_ms is not None), default=None),
        expires_at_ms=_latest_of_all(meta.expires_at_ms for meta in metas),
        valid_from_ms=max((meta.valid_from_ms for meta in metas if meta.valid_from_ms is not None), default=None),
        valid_until_ms=_latest_of_all(meta.valid_until_ms for meta in metas),
        aliases=(aliases := ids_and_aliases(metas)),
        supersedes=tuple(dict.fromkeys(id for meta in metas for id in meta.supersedes if id not in aliases)),
        sources=_united_sources(source for meta in metas for source in meta.sources),
    )


def part_meta(id: str, title: str, source: MemoryEntry, tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of one part of a split: its source's, without aliases."""
    used = ground.used(source.meta)
    return evolve(
        source.meta,
        id=id,
        title=title,
        tags=stored_tags(tags) or source.meta.tags,
        status=furthest((source.meta.status, ground.facts.status)),
        updated_at_ms=max(ground.facts.now_ms, source.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
        aliases=(),
        pinned=False,
    )


def with_origin(meta: Meta, fresh: Origin) -> Meta:
    """The frontmatter once the text has been judged: what comes out external has lost a person's promotion."""
    origin = least_trusted((meta.origin, fresh))
    return evolve(meta, origin=origin, promoted_by=None if origin is Origin.EXTERNAL else meta.promoted_by)


def ids_and_aliases(metas: Iterable[Meta]) -> tuple[str, ...]:
    """Every id by which these entries are found."""
    return tuple(dict.fromkeys(id for meta in metas for id in (meta.id, *meta.aliases)))


def _vouched_by(sources: tuple[MemoryEntry, ...]) -> str | None:
    """Whose promotion holds for all of it: what comes in beside a promoted entry must need none, or say nothing more."""
    vouched = [each for each in sources if is_vouched_for(each.meta)]
    if not vouched:
        return None
    known = {sentence for each in vouched for sentence in statements(said_by(each))}
    others = (each for each in sources if not is_vouched_for(each.meta))
    is_for_all = all(best_tier(each.meta) is Tier.HOT or known.issuperset(statements(said_by(each))) for each in others)
    return vouched[0].meta.promoted_by if is_for_all else None


def _united_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    united: tuple[Source, ...] = ()
    for source in sources:
        if source not in united:
            united = with_source(united, source)
    return united


def _latest_of_all(instants: Iterable[int | None]) -> int | None:
    known = tuple(instants)
    ends = [each for each in known if each is not None]
    return max(ends) if len(ends) == len(known) else None


# -- merge and split (P12) ------------------------------------------------------------------------------------------


def merged(action: Merge, sources: tuple[StoredEntry, ...], ground: Ground) -> Outcome:
    """The merge of these entries, which may be touched. Raises `Refused` with every reason why there is none."""
    if len(sources) < 2:
        raise Refused(("a merge takes two or more different entries",))
    if len({each.meta.scope for each in sources}) > 1:
        raise Refused(("its entries belong to different repositories, or to one and to all",))
    part = _part(action)
    if problems := _text_problems((part,), sources):
        raise Refused(problems)
    entries = tuple(each.entry for each in sources)
    at_ms = max(each.meta.created_at_ms for each in sources)
    meta = united_meta(mint_id(part.title, at_ms, ground.taken_ids), part.title, entries, part.tags, ground)
    return _new_entries(((meta, part),), sources, action.drops, ground)


def split(action: Split, source: StoredEntry, ground: Ground) -> Outcome:
    """The parts of this entry, which may be touched. Raises `Refused` with every reason why there are none."""
    parts = tuple(map(_part, action.into))
    if len(parts) < 2:
        raise Refused(("a split makes two or more entries",))
    if len({folded_name(part.title) for part in parts}) < len(parts):
        raise Refused(("two of its parts have the same title",))
    if problems := _text_problems(parts, (source,)):
        raise Refused(problems)
    metas: list[Meta] = []
    taken = ground.taken_ids
    for part in parts:
        id = mint_id(part.title, source.meta.created_at_ms, taken)
        taken.add(id.casefold())
        metas.append(part_meta(id, part.title, source.entry, part.tags, ground))
    metas[0] = evolve(metas[0], aliases=ids_and_aliases((source.meta,)))
    return _new_entries(tuple(zip(metas, parts, strict=True)), (source,), (), ground)


def _new_entries(
    drafts: tuple[tuple[Meta, SplitPart], ...], sources: tuple[StoredEntry, ...], drops: tuple[str, ...], ground: Ground
) -> Outcome:
    entries = tuple(each.entry for each in sources)
    bodies, unlinked = linked_bodies(
        {meta.id: part.body for meta, part in drafts}, entries, drafts[0][0].id, drops, ground
    )
    results = tuple(
        MemoryEntry(evolve(meta, description=part.description or derive_description(bodies[meta.id])), bodies[meta.id])
        for meta, part in drafts
    )
    problems = information_problems(entries, results, drops)
    if any(folded_name(file_name_of(each.meta)) in ground.names for each in results):
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    before = "\n".join(map(said_by, entries))
    judged = tuple(_judged(each, before, ground) for each in results)
    retired = tuple(Retire(each.meta.id, each.listed.content_hash) for each in sources)
    return Outcome((*retired, *map(Create, judged)), tuple(each.meta.id for each in judged), unlinked)


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


def _part(proposed: Merge | SplitPart) -> SplitPart:
    """The text of one new entry, fit to be stored."""
    description = stored_description(proposed.description or "")
    return SplitPart(stored_title(proposed.title), stored_body(proposed.body), description, proposed.tags)


def _text_problems(parts: tuple[SplitPart, ...], sources: tuple[StoredEntry, ...]) -> Reasons:
    before = "\n".join(each.body for each in sources)
    problems = ((part, title_problems(part.title) + body_problems(part.body, before)) for part in parts)
    return tuple(
        f"{stored_line(part.title, 40)!r}: {reason}" if len(parts) > 1 else reason
        for part, reasons in problems
        for reason in reasons
    )


# -- rename, retag, edit --------------------------------------------------------------------------------------------


def rewritten(action: Rename | Retag | Edit, old: MemoryEntry, ground: Ground) -> tuple[MemoryEntry, tuple[str, ...]]:
    """The entry as the action leaves it, and the targets of links that lead nowhere and are plain text now.

    Kind, scope, status and trust never rise by it. Raises `Refused` with every reason why there is no such entry.
    """
    match action:
        case Rename(_, title, drops):
            return _renamed(stored_title(title), drops, old, ground), ()
        case Retag(_, tags):
            return _retagged(stored_tags(tags), old, ground), ()
        case Edit():
            return _edited(action, old, ground)


def _renamed(title: str, drops: tuple[str, ...], old: MemoryEntry, ground: Ground) -> MemoryEntry:
    if title == old.meta.title:
        raise Refused(("it changes nothing",))
    new = evolve(old, meta=evolve(old.meta, title=title))
    problems = title_problems(title) or loss_problems((old.meta.title,), said_by(new), drops)
    problems += _changed_by_title(title, drops, old)
    twin = ground.titled(title, old.meta.scope)
    if twin not in (None, old.meta.id):
        problems += (f"{twin} has that title",)
    if folded_name(file_name_of(new.meta)) in ground.names - {folded_name(file_name_of(old.meta))}:
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    return _judged_version(new, old, ground)


def _changed_by_title(title: str, drops: tuple[str, ...], old: MemoryEntry) -> Reasons:
    """The title of a note is told without its body: it says nothing that the body says otherwise."""
    swapped = swapped_words(said_by(old), title, drops)
    told = (
        (f"its title would not say {', '.join(map(repr, swapped))}, and its drops do not name that",) if swapped else ()
    )
    return told + invented_words(said_by(old), title)


def _retagged(tags: tuple[str, ...], old: MemoryEntry, ground: Ground) -> MemoryEntry:
    if not tags:
        raise Refused(("it leaves the entry without a tag",))
    if tags == old.meta.tags:
        raise Refused(("it changes nothing",))
    return _judged_version(evolve(old, meta=evolve(old.meta, tags=tags)), old, ground)


def _edited(action: Edit, old: MemoryEntry, ground: Ground) -> tuple[MemoryEntry, tuple[str, ...]]:
    shown, find = clean_text(old.body).text, clean_text(action.find).text
    at = shown.find(find)
    if not find.strip() or at < 0:
        raise Refused(("the passage to be replaced does not occur in it",))
    if shown.rfind(find) != at:
        raise Refused(("the passage to be replaced occurs more than once in it",))
    body = stored_body(shown[:at] + clean_text(action.replace).text + shown[at + len(find) :])
    if body == old.body:
        raise Refused(("it changes nothing",))
    draft = MemoryEntry(evolve(old.meta, description=_description(old, body)), body)
    new, linked = with_links(draft, old, ground.targets({}))
    problems = body_problems(new.body, old.body) or loss_problems((said_by(old),), new.whole, action.drops)
    problems += invented_words(said_by(old), new.whole)
    if problems:
        raise Refused(problems)
    status = furthest((old.meta.status, ground.facts.status))
    judged = _judged_version(evolve(new, meta=evolve(new.meta, status=status)), old, ground)
    return judged, linked.unknown


def _judged_version(new: MemoryEntry, old: MemoryEntry, ground: Ground) -> MemoryEntry:
    fresh = origin_of_fresh_text(said_by(old), said_by(new), ground.untrusted)
    used = ground.used(old.meta)
    meta = evolve(
        with_origin(new.meta, fresh),
        updated_at_ms=max(ground.facts.now_ms, old.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
    )
    return evolve(new, meta=meta)


def _description(old: MemoryEntry, body: str) -> str:
    """Derived anew where it was derived, or where it names what the body does not name any more."""
    gone = salient_tokens(old.body) - salient_tokens(body)
    is_stale = bool(salient_tokens(old.meta.description) & gone)
    return derive_description(body) if is_stale else kept_description(old, body)
