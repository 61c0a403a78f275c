"""An entry stays what it is, under another title, with other tags, or with one passage replaced."""

from __future__ import annotations

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.actions import Edit, Rename, Retag
from agent_memory.domain.defragging.changed_claims import invented_words, swapped_words
from agent_memory.domain.defragging.comparable import said_by
from agent_memory.domain.defragging.fresh_text import origin_of_fresh_text
from agent_memory.domain.defragging.ground import Ground
from agent_memory.domain.defragging.information import loss_problems
from agent_memory.domain.defragging.results import Reasons
from agent_memory.domain.defragging.united import with_origin
from agent_memory.domain.editing import kept_description
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.planning.drafts import (
    body_problems,
    stored_body,
    stored_tags,
    stored_title,
    title_problems,
)
from agent_memory.domain.planning.entry_updates import with_links
from agent_memory.domain.planning.salience import salient_tokens
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.vocabulary import furthest


@frozen
class Rewritten:
    """The new version of an entry, and the targets of links that lead nowhere and are plain text now."""

    entry: MemoryEntry
    unlinked: tuple[str, ...] = ()


def rewritten(action: Rename | Retag | Edit, old: MemoryEntry, ground: Ground) -> Result[Rewritten, Reasons]:
    """The entry as the action leaves it; or every reason why it does not. Kind, scope, status and trust never rise by it."""
    match action:
        case Rename(_, title, drops):
            return _renamed(stored_title(title), drops, old, ground)
        case Retag(_, tags):
            return _retagged(stored_tags(tags), old, ground)
        case Edit():
            return _edited(action, old, ground)


def _renamed(title: str, drops: tuple[str, ...], old: MemoryEntry, ground: Ground) -> Result[Rewritten, Reasons]:
    if title == old.meta.title:
        return Failure(("it changes nothing",))
    new = evolve(old, meta=evolve(old.meta, title=title))
    problems = title_problems(title) or loss_problems((old.meta.title,), said_by(new), drops)
    problems += _changed_by_title(title, drops, old)
    twin = ground.titled(title, old.meta.scope)
    if twin not in (None, old.meta.id):
        problems += (f"{twin} has that title",)
    if folded_name(file_name_of(new.meta)) in ground.names - {folded_name(file_name_of(old.meta))}:
        problems += ("another file has the name that it would get",)
    return Failure(problems) if problems else Success(_judged(new, old, ground))


def _changed_by_title(title: str, drops: tuple[str, ...], old: MemoryEntry) -> Reasons:
    """The title of a note is told without its body: it says nothing that the body says otherwise."""
    swapped = swapped_words(said_by(old), title, drops)
    told = (
        (f"its title would not say {', '.join(map(repr, swapped))}, and its drops do not name that",) if swapped else ()
    )
    return told + invented_words(said_by(old), title)


def _retagged(tags: tuple[str, ...], old: MemoryEntry, ground: Ground) -> Result[Rewritten, Reasons]:
    if not tags:
        return Failure(("it leaves the entry without a tag",))
    if tags == old.meta.tags:
        return Failure(("it changes nothing",))
    return Success(_judged(evolve(old, meta=evolve(old.meta, tags=tags)), old, ground))


def _edited(action: Edit, old: MemoryEntry, ground: Ground) -> Result[Rewritten, Reasons]:
    shown, find = clean_text(old.body).text, clean_text(action.find).text
    at = shown.find(find)
    if not find.strip() or at < 0:
        return Failure(("the passage to be replaced does not occur in it",))
    if shown.rfind(find) != at:
        return Failure(("the passage to be replaced occurs more than once in it",))
    body = stored_body(shown[:at] + clean_text(action.replace).text + shown[at + len(find) :])
    if body == old.body:
        return Failure(("it changes nothing",))
    draft = MemoryEntry(evolve(old.meta, description=_description(old, body)), body)
    new, linked = with_links(draft, old, ground.targets({}))
    problems = body_problems(new.body, old.body) or loss_problems((said_by(old),), _whole(new), action.drops)
    problems += invented_words(said_by(old), _whole(new))
    if problems:
        return Failure(problems)
    status = furthest((old.meta.status, ground.facts.status))
    judged = _judged(evolve(new, meta=evolve(new.meta, status=status)), old, ground)
    return Success(evolve(judged, unlinked=linked.unknown))


def _judged(new: MemoryEntry, old: MemoryEntry, ground: Ground) -> Rewritten:
    fresh = origin_of_fresh_text(said_by(old), said_by(new), ground.untrusted)
    used = ground.used(old.meta)
    meta = evolve(
        with_origin(new.meta, fresh),
        updated_at_ms=max(ground.facts.now_ms, old.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
    )
    return Rewritten(evolve(new, meta=meta))


def _description(old: MemoryEntry, body: str) -> str:
    """Derived anew where it was derived, or where it names what the body does not name any more."""
    gone = salient_tokens(old.body) - salient_tokens(body)
    is_stale = bool(salient_tokens(old.meta.description) & gone)
    return derive_description(body) if is_stale else kept_description(old, body)


def _whole(entry: MemoryEntry) -> str:
    return f"{entry.meta.title}\n{entry.meta.description}\n{entry.body}"
