"""The catalog of a defrag prompt: one line for each entry, grouped by scope, as many as fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.findings import Profile
from agent_memory.domain.instants import iso_of
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Sensitivity

MAX_TITLE_CHARS = 140
MAX_DESCRIPTION_CHARS = 160

_MAX_TAGS = 6
_MAX_SCOPE_CHARS = 300
_LAST_INSTANT_MS = 253_402_300_799_999
_FACTS_CHARS = 110
"""Of a line: id, kind, tiers, origin, size, reads, dates, marks, and what stands between them."""


@frozen
class CatalogFacts:
    """What its lines say of entries beyond their frontmatter."""

    tiers: TierList
    usage: Mapping[str, Usage]
    profiles: Mapping[str, Profile]
    eligible: frozenset[str]
    """May be hot."""
    at_most_warm: frozenset[str]
    left_alone: frozenset[str]
    shown: frozenset[str]
    """Stand in full below, so their lines need no description."""


@frozen
class Catalog:
    """The text, and the ids that it lists."""

    text: str
    ids: frozenset[str]


def estimated_chars(catalog: Iterable[Listed]) -> int:
    """About how long the catalog of these entries is with all descriptions."""
    return sum(_estimated_line(each) for each in catalog)


def _estimated_line(listed: Listed) -> int:
    meta = listed.meta
    tags = sum(len(tag) + 1 for tag in meta.tags[:_MAX_TAGS])
    title, description = min(len(meta.title), MAX_TITLE_CHARS), min(len(meta.description), MAX_DESCRIPTION_CHARS)
    return _FACTS_CHARS + tags + title + description


def render_catalog(
    best_first: Iterable[Listed], foremost: frozenset[str], facts: CatalogFacts, max_chars: int
) -> Catalog:
    """The lines of the first entries that fit, grouped by scope, and a count of the others.

    Those of `foremost` have their descriptions in any case, others as far as there is room once all lines stand.
    """
    entries = tuple(best_first)
    room = max_chars - len(_unlisted(len(entries)))
    lines: dict[str, str] = {}
    headings: dict[str, str] = {}
    for each in entries:
        id, scope = each.meta.id, each.meta.scope
        line = _line(each, facts, with_description=id in foremost)
        heading = headings.get(scope) or f"scope {stored_line(scope, _MAX_SCOPE_CHARS)}:"
        size = len(line) + 1 + (0 if scope in headings else len(heading) + 2)
        if size > room:
            break
        lines[id], headings[scope] = line, heading
        room -= size
    listed = entries[: len(lines)]
    _describe(lines, listed, facts, room)
    left = len(entries) - len(listed)
    groups = (
        "\n".join((headings[scope], *(lines[id] for id in _ordered(listed, scope, facts))))
        for scope in sorted(headings, key=_global_first)
    )
    text = "\n\n".join((*groups, *([_unlisted(left)] if left else [])))
    return Catalog(text or "(none)", frozenset(lines))


def _describe(lines: dict[str, str], listed: Iterable[Listed], facts: CatalogFacts, room: int) -> None:
    for each in listed:
        line = _line(each, facts, with_description=True)
        room -= len(line) - len(lines[each.meta.id])
        if room < 0:
            break
        lines[each.meta.id] = line


def _unlisted(count: int) -> str:
    return f"({count:,} more are not listed; they stay as they are, and so does their tier)"


def _global_first(scope: str) -> tuple[bool, str]:
    return scope != GLOBAL_SCOPE, scope


def _ordered(listed: Iterable[Listed], scope: str, facts: CatalogFacts) -> list[str]:
    """The ids of a scope with what is nearest first, and what bears the same first tag side by side."""
    tiers = list(Tier)

    def key(meta: Meta) -> tuple[int, str, str, str]:
        return tiers.index(facts.tiers.of(meta.id)), meta.tags[0] if meta.tags else "", meta.title.casefold(), meta.id

    return [meta.id for meta in sorted((each.meta for each in listed if each.meta.scope == scope), key=key)]


def _line(listed: Listed, facts: CatalogFacts, *, with_description: bool) -> str:
    meta = listed.meta
    parts = (
        meta.id,
        meta.kind.value,
        f"{facts.tiers.of(meta.id)}/{nearest_tier(meta.id, facts)}",
        meta.origin.value,
        _size(meta.id, facts),
        _reads(facts.usage.get(meta.id)),
        f"updated {day_of(meta.updated_at_ms)}",
        *_marks(listed, facts),
        stored_line(" ".join(meta.tags[:_MAX_TAGS])),
        stored_line(meta.title, MAX_TITLE_CHARS),
        stored_line(meta.description, MAX_DESCRIPTION_CHARS) if with_description and meta.id not in facts.shown else "",
    )
    return " | ".join(part for part in parts if part)


def nearest_tier(id: str, facts: CatalogFacts) -> Tier:
    """The nearest tier that an entry may have."""
    if id in facts.eligible:
        return Tier.HOT
    return Tier.WARM if id in facts.at_most_warm else Tier.COLD


def _size(id: str, facts: CatalogFacts) -> str:
    profile = facts.profiles.get(id)
    return f"{profile.body_chars:,} chars" if profile else ""


def _reads(usage: Usage | None) -> str:
    if usage is None or usage.count == 0:
        return "never read"
    last = f", last {day_of(usage.last_at_ms)}" if usage.last_at_ms is not None else ""
    return f"read {usage.count:,}x{last}"


def _marks(listed: Listed, facts: CatalogFacts) -> Iterable[str]:
    meta = listed.meta
    if meta.importance in (Importance.HIGH, Importance.CRITICAL):
        yield meta.importance.value
    if meta.promoted_by is not None:
        yield "promoted"
    if meta.sensitivity is Sensitivity.PRIVATE:
        yield "private"
    if meta.expires_at_ms is not None:
        yield f"expires {day_of(meta.expires_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {day_of(meta.valid_until_ms)}"
    yield from locks(listed, facts.left_alone)


def locks(listed: Listed, left_alone: frozenset[str]) -> Iterable[str]:
    """Why an entry is to be left as it is, a word for each reason."""
    if listed.meta.pinned:
        yield "PINNED"
    if listed.conflicted:
        yield "CONFLICTED"
    if listed.provisional_id:
        yield "UNFINISHED"
    if listed.meta.id in left_alone:
        yield "RESTLESS"


def day_of(at_ms: int) -> str:
    """`2026-02-13`."""
    # A ledger may hold any number that a person wrote.
    return iso_of(min(at_ms, _LAST_INSTANT_MS))[:10]
