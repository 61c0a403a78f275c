"""The defrag prompt: a template filled with what the store holds, what was found about it, and some of its entries whole.

Whatever comes from outside stands inside random fences (`prompt_frame`). A secret entry is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.entry import Listed, Meta, StoredEntry, Usage
from agent_memory.domain.findings import Finding
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact, stored_line
from agent_memory.domain.text.markdown import derive_description
from agent_memory.domain.text.plain_text import first_few
from agent_memory.domain.tiering.score import best_now
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Sensitivity, Tier, TierList
from agent_memory.errors import ConfigInvalid
from agent_memory.formats.prompt import Frame, fitting, plain
from agent_memory.results import as_result

PLACES = (
    "fence", "today", "live", "max_changes", "hot_chars", "warm_lines", "findings", "tiers", "catalog", "notes", "closing",
)  # fmt: skip
"""What a template has to have a `{{place}}` for."""

_SPARE_CHARS = 1_500
"""For what is counted nowhere: numbers, closing words, the counts of what is not listed."""
_LEAST_ROOM_CHARS = 20_000
"""Enough to show the longest body that is allowed, and a catalog beside it."""
_FINDINGS_SHARE = 12
_MAX_FINDINGS_CHARS = 20_000
_CATALOG_PERCENT = 35
_TIER_ID_CHARS, _TIER_WORDS_CHARS = 12, 80
_MOST_FOR_TIERS = 5
"""The share of what is left for the catalog: more than it takes to name all that such a catalog can list."""
_MAX_REASON_CHARS = 400
_MAX_FINDING_IDS = 12
_MAX_LINE_CHARS = 1_000
_MAX_TITLE_CHARS = 140
_MAX_DESCRIPTION_CHARS = 160
_MAX_TAGS = 6
_MAX_SCOPE_CHARS = 300
_FACTS_CHARS = 110
"""Of a line of the catalog: id, kind, tiers, origin, size, reads, dates, marks, and what stands between them."""
_LAST_INSTANT_MS = 253_402_300_799_999


@frozen
class DefragBudget:
    """How many characters a prompt and its parts may take; what the others leave of the whole goes to the catalog."""

    prompt_chars: int
    shown_chars: int
    """Of entries in full, by `related.note_chars`."""
    findings_chars: int


@frozen
class DefragPromptFacts:
    """What a prompt says."""

    frame: Frame
    request: DefragRequest
    """Secret entries are left out here; what is shown in full is within `budget.shown_chars`."""
    max_changes: int
    """Live entries that the run may change or archive."""
    budget: DefragBudget

    @property
    def shown_ids(self) -> frozenset[str]:
        """The entries that stand in full in the prompt."""
        return frozenset(each.meta.id for each in self.request.shown)


@frozen
class DefragPrompt:
    """A prompt, and what it names."""

    text: str
    listed: frozenset[str]
    """The entries in its catalog. An agent cannot have meant to change the tier of any other (`TierList.where_unseen`)."""


@as_result
def plan_defrag_budget(template: str, max_prompt_chars: int, catalog: Sequence[Listed]) -> DefragBudget:
    """How a prompt of at most this many characters is divided, given the entries that it could list and show.

    The catalog gets what it needs, at most about a third; findings a twelfth; entries in full the rest. Refused when the
    template leaves no room to show an entry of the longest size.
    """
    fixed = len(template) + _SPARE_CHARS
    room = max_prompt_chars - fixed
    if room < _LEAST_ROOM_CHARS:
        needed = f"and defrag needs at least {fixed + _LEAST_ROOM_CHARS:,}"
        raise ConfigInvalid("in effect", (f"llm.maxPromptChars is {max_prompt_chars:,}, {needed}",))
    findings_chars = min(room // _FINDINGS_SHARE, _MAX_FINDINGS_CHARS)
    catalog_chars = min(sum(map(_estimated_chars, catalog)), room * _CATALOG_PERCENT // 100)
    # The rest of a size goes to nothing: text that composed characters lengthened.
    shown_chars = (room - findings_chars - catalog_chars) * 49 // 50
    return DefragBudget(max_prompt_chars, shown_chars, findings_chars)


def render_defrag_prompt(template: str, facts: DefragPromptFacts) -> DefragPrompt:
    """The prompt, at most `budget.prompt_chars` long. The same facts give the same text; only what is data is in the
    fences, and all of it is."""
    visible = tuple(each for each in facts.request.live if each.meta.sensitivity is not Sensitivity.SECRET)
    facts = evolve(
        facts, request=evolve(facts.request, live=visible, shown=tuple(filter(_is_whole, facts.request.shown)))
    )
    frame, request, tiers = facts.frame, facts.request, facts.request.tiers
    parts = {
        "fence": frame.fence,
        "today": _day_of(request.now_ms),
        "live": f"{len(request.live):,}",
        "max_changes": f"{facts.max_changes:,}",
        "hot_chars": f"{request.budget.hot_chars:,}",
        "warm_lines": f"{request.budget.warm_lines:,}",
        "findings": frame.fenced(_findings(facts)),
        "notes": "\n\n".join(frame.note(each.meta.id, _note(each, request)) for each in request.shown) or "(none)",
        "closing": _closing(facts),
        "catalog": "",
        "tiers": "",
    }
    room = facts.budget.prompt_chars - len(frame.filled(template, parts))
    for_tiers = _TIER_WORDS_CHARS + (len(tiers.hot) + len(tiers.warm)) * _TIER_ID_CHARS
    catalog, listed = _catalog(facts, room - min(for_tiers, max(room, 0) // _MOST_FOR_TIERS))
    parts |= {"catalog": frame.fenced(catalog), "tiers": frame.fenced(_tiers(tiers, listed))}
    return DefragPrompt(frame.filled(template, parts), listed)


def _is_whole(stored: StoredEntry) -> bool:
    """Whether an agent would see all of the entry: one that is or holds a secret is not shown."""
    text = f"{stored.meta.title}\n{stored.meta.description}\n{stored.body}"
    return stored.meta.sensitivity is not Sensitivity.SECRET and redact(text).text == text


def _closing(facts: DefragPromptFacts) -> str:
    if len(facts.shown_ids) < len(facts.request.live):
        return "Not every note is shown in full: merge, split, edit and archive only those that are."
    return "Every note is shown in full."


def _tiers(tiers: TierList, listed: frozenset[str]) -> str:
    rows = (("hot", tiers.hot), ("warm", tiers.warm))
    return "\n".join(f"{name}: {', '.join(id for id in ids if id in listed) or '(none)'}" for name, ids in rows)


# -- what the store holds: one line for each entry, grouped by scope, as many as fit ----------------------------------


def _catalog(facts: DefragPromptFacts, max_chars: int) -> tuple[str, frozenset[str]]:
    """The lines of the first entries that fit, and a count of the others; and the ids that are listed.

    What is in a tier, pinned or shown has its description in any case, others as far as there is room once all lines stand.
    """
    entries, foremost = _most_important_first(facts.request)
    shown = facts.shown_ids  # their lines need no description
    foremost -= shown
    room = max_chars - len(_unlisted(len(entries)))
    lines: dict[str, str] = {}
    headings: dict[str, str] = {}
    for each in entries:
        id, scope = each.meta.id, each.meta.scope
        line = _line(each, facts, described=id in foremost)
        heading = headings.get(scope) or f"scope {stored_line(scope, _MAX_SCOPE_CHARS)}:"
        size = len(line) + 1 + (0 if scope in headings else len(heading) + 2)
        if size > room:
            break
        lines[id], headings[scope] = line, heading
        room -= size
    listed = entries[: len(lines)]
    for each in listed:
        line = _line(each, facts, described=each.meta.id not in shown)
        room -= len(line) - len(lines[each.meta.id])
        if room < 0:
            break
        lines[each.meta.id] = line
    groups = [
        "\n".join((headings[scope], *(lines[id] for id in _ordered(listed, scope, facts.request.tiers))))
        for scope in sorted(headings, key=lambda scope: (scope != GLOBAL_SCOPE, scope))
    ]
    left = len(entries) - len(listed)
    return "\n\n".join((*groups, *([_unlisted(left)] if left else []))) or "(none)", frozenset(lines)


def _most_important_first(request: DefragRequest) -> tuple[list[Listed], frozenset[str]]:
    """The entries in the order in which they get room, and which of them come first by what they are."""
    pinned = (each.meta.id for each in request.live if each.meta.pinned)
    shown = (each.meta.id for each in request.shown)
    first = dict.fromkeys((*request.tiers.hot, *request.tiers.warm, *pinned, *shown))
    ranks = {id: rank for rank, id in enumerate(first)}

    def order(listed: Listed) -> tuple[int, int, str]:
        # When it was last written or read: what might deserve another tier is likely to be new or in use.
        usage = request.usage.get(listed.meta.id)
        touched_at_ms = max(listed.meta.updated_at_ms, (usage.last_at_ms or 0) if usage else 0)
        return ranks.get(listed.meta.id, len(ranks)), -touched_at_ms, listed.meta.id

    return sorted(request.live, key=order), frozenset(first)


def _unlisted(count: int) -> str:
    return f"({count:,} more are not listed; they stay as they are, and so does their tier)"


def _ordered(listed: Iterable[Listed], scope: str, tiers: TierList) -> list[str]:
    """The ids of a scope with what is nearest first, and what bears the same first tag side by side."""

    def key(meta: Meta) -> tuple[int, str, str, str]:
        nearness = list(Tier).index(tiers.of(meta.id))
        return nearness, meta.tags[0] if meta.tags else "", meta.title.casefold(), meta.id

    return [meta.id for meta in sorted((each.meta for each in listed if each.meta.scope == scope), key=key)]


def _line(listed: Listed, facts: DefragPromptFacts, *, described: bool) -> str:
    meta, request = listed.meta, facts.request
    chars = request.analysis.body_chars.get(meta.id)
    nearest = Tier.COLD if chars is None else best_now(meta, request.now_ms)
    parts = (
        meta.id,
        meta.kind.value,
        f"{request.tiers.of(meta.id)}/{nearest}",
        meta.origin.value,
        "" if chars is None else f"{chars:,} chars",
        _reads(request.usage.get(meta.id)),
        f"updated {_day_of(meta.updated_at_ms)}",
        *_marks(listed, request),
        stored_line(" ".join(meta.tags[:_MAX_TAGS])),
        stored_line(meta.title, _MAX_TITLE_CHARS),
        stored_line(meta.description, _MAX_DESCRIPTION_CHARS) if described else "",
    )
    return " | ".join(part for part in parts if part)


def _estimated_chars(listed: Listed) -> int:
    """About how long its line is with its description."""
    meta = listed.meta
    tags = sum(len(tag) + 1 for tag in meta.tags[:_MAX_TAGS])
    title, description = min(len(meta.title), _MAX_TITLE_CHARS), min(len(meta.description), _MAX_DESCRIPTION_CHARS)
    return _FACTS_CHARS + tags + title + description


def _reads(usage: Usage | None) -> str:
    if usage is None or usage.count == 0:
        return "never read"
    last = f", last {_day_of(usage.last_at_ms)}" if usage.last_at_ms is not None else ""
    return f"read {usage.count:,}x{last}"


def _marks(listed: Listed, request: DefragRequest) -> Iterator[str]:
    meta = listed.meta
    if meta.importance in (Importance.HIGH, Importance.CRITICAL):
        yield meta.importance.value
    if meta.promoted_by is not None:
        yield "promoted"
    if meta.sensitivity is Sensitivity.PRIVATE:
        yield "private"
    if meta.expires_at_ms is not None:
        yield f"expires {_day_of(meta.expires_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {_day_of(meta.valid_until_ms)}"
    yield from _locks(listed, request)


def _locks(listed: Listed, request: DefragRequest) -> Iterator[str]:
    """Why an entry is to be left as it is, a word for each reason."""
    if listed.meta.pinned:
        yield "PINNED"
    if listed.conflicted:
        yield "CONFLICTED"
    if listed.provisional_id:
        yield "UNFINISHED"
    if listed.meta.id in request.left_alone:
        yield "RESTLESS"


def _day_of(at_ms: int) -> str:
    """`2026-02-13`."""
    # A ledger may hold any number that a person wrote.
    return iso_of(min(at_ms, _LAST_INSTANT_MS))[:10]


# -- what was found ---------------------------------------------------------------------------------------------------


def _findings(facts: DefragPromptFacts) -> str:
    """A line for each finding about entries shown in full, those that can be judged whole first; a count of the others."""
    shown, catalog = facts.shown_ids, frozenset(each.meta.id for each in facts.request.live)
    known = [each for each in facts.request.analysis.findings if catalog.issuperset(each.ids)]
    near = [each for each in known if not shown.isdisjoint(each.ids)]
    near.sort(key=lambda finding: not shown.issuperset(finding.ids))
    lines = fitting(map(_finding, near), facts.budget.findings_chars)
    left = len(known) - len(lines)
    if left:
        lines.append(f"({left:,} more, about notes that are not shown in full or less pressing, wait for another run)")
    return "\n".join(lines) or "(nothing)"


def _finding(finding: Finding) -> str:
    ids = first_few(finding.ids, _MAX_FINDING_IDS)
    return f"- {finding.kind.value}: {ids}: {stored_line(finding.reason, _MAX_REASON_CHARS)}"


# -- entries in full --------------------------------------------------------------------------------------------------


def _note(stored: StoredEntry, request: DefragRequest) -> str:
    meta, lines = stored.meta, [f"about: {', '.join(_about(stored, request))}"]
    lines.append(f"title: {stored_line(meta.title, _MAX_LINE_CHARS)}")
    if meta.description and meta.description != derive_description(stored.body):
        lines.append(f"description: {stored_line(meta.description, _MAX_LINE_CHARS)}")
    lines += [f"tags: {stored_line(' '.join(meta.tags), _MAX_LINE_CHARS)}", f"body:\n{plain(stored.body)}"]
    return "\n".join(lines)


def _about(stored: StoredEntry, request: DefragRequest) -> Iterator[str]:
    meta = stored.meta
    yield meta.kind.value
    yield stored_line(meta.scope, _MAX_LINE_CHARS)
    yield f"origin {meta.origin.value}"
    yield f"from {_day_of(meta.created_at_ms)}"
    if _day_of(meta.updated_at_ms) != _day_of(meta.created_at_ms):
        yield f"updated {_day_of(meta.updated_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {_day_of(meta.valid_until_ms)}"
    turns = sum(len(source.turns) for source in meta.sources)
    if turns:
        yield f"cites {turns:,} turns of {len(meta.sources):,} sessions"
    yield from _locks(stored.listed, request)
