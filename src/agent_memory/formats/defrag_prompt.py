"""The defrag prompt: a template filled with what the store holds, what was found about it, and some of its entries whole.

Whatever comes from outside stands inside random fences (`prompt_frame`). A secret entry is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, field, frozen
from attrs.validators import min_len
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, StoredEntry, Usage
from agent_memory.domain.findings import Finding, Profile
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.redaction import redact
from agent_memory.domain.section import SectionBudget
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import ConfigInvalid
from agent_memory.formats.defrag_catalog import Catalog, CatalogFacts, day_of, estimated_chars, locks, render_catalog
from agent_memory.formats.prompt_frame import fenced, fill_template, plain

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


@frozen
class DefragBudget:
    """How many characters a prompt and its parts may take; what the others leave of the whole goes to the catalog."""

    prompt_chars: int
    shown_chars: int
    """Of entries in full, by `related.note_chars`."""
    findings_chars: int


@frozen
class DefragPromptFacts:
    """What a prompt says. `nonce` and `fence` are random words of at least 64 bits."""

    nonce: str = field(validator=min_len(8))
    fence: str = field(validator=min_len(8))
    catalog: Sequence[Listed]
    """Every live entry; secret ones are left out here."""
    tiers: TierList
    findings: tuple[Finding, ...]
    """The most pressing first."""
    shown: tuple[StoredEntry, ...]
    """Within `budget.shown_chars`."""
    eligible: frozenset[str]
    """What may be hot."""
    now_ms: int
    max_changes: int
    """Live entries that the run may change or archive."""
    budget: DefragBudget
    section: SectionBudget = SectionBudget()
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    profiles: Mapping[str, Profile] = field(factory=dict[str, Profile])
    at_most_warm: frozenset[str] = frozenset()
    """What may be warm but not hot; what is in neither set stays cold."""
    left_alone: frozenset[str] = frozenset()
    """Entries that changed so often lately that nothing is to be changed now."""


def plan_defrag_budget(
    template: str, max_prompt_chars: int, catalog: Sequence[Listed]
) -> Result[DefragBudget, ConfigInvalid]:
    """How a prompt of at most this many characters is divided, given the entries that it could list and show.

    The catalog gets what it needs, at most about a third; findings a twelfth; entries in full the rest. Refused when the
    template leaves no room to show an entry of the longest size.
    """
    fixed = len(template) + _SPARE_CHARS
    room = max_prompt_chars - fixed
    if room < _LEAST_ROOM_CHARS:
        problem = (
            f"llm.maxPromptChars: is {max_prompt_chars:,}, and defrag needs at least {fixed + _LEAST_ROOM_CHARS:,}"
        )
        return Failure(ConfigInvalid("in effect", (problem,)))
    findings_chars = min(room // _FINDINGS_SHARE, _MAX_FINDINGS_CHARS)
    catalog_chars = min(estimated_chars(catalog), room * _CATALOG_PERCENT // 100)
    # The rest of a size goes to nothing: text that composed characters lengthened.
    shown_chars = (room - findings_chars - catalog_chars) * 49 // 50
    return Success(DefragBudget(max_prompt_chars, shown_chars, findings_chars))


@frozen
class DefragPrompt:
    """A prompt, and what it names."""

    text: str
    listed: frozenset[str]
    """The entries in its catalog. An agent cannot have meant to change the tier of any other (`TierList.where_unseen`)."""


def render_defrag_prompt(template: str, facts: DefragPromptFacts) -> DefragPrompt:
    """The prompt, at most `budget.prompt_chars` long. The same facts give the same text; only what is data is in the
    fences, and all of it is."""
    facts = _without_secrets(facts)
    parts = {
        "fence": facts.fence,
        "today": day_of(facts.now_ms),
        "live": f"{len(facts.catalog):,}",
        "max_changes": f"{facts.max_changes:,}",
        "hot_chars": f"{facts.section.hot_chars:,}",
        "warm_lines": f"{facts.section.warm_lines:,}",
        "findings": _fenced(_findings(facts), facts),
        "notes": "\n\n".join(_note(stored, facts) for stored in facts.shown) or "(none)",
        "closing": _closing(facts),
        "catalog": "",
        "tiers": "",
    }
    room = facts.budget.prompt_chars - len(fill_template(template, parts, facts.nonce))
    catalog = _catalog(facts, room - _tiers_chars(facts, room))
    parts |= {"catalog": _fenced(catalog.text, facts), "tiers": _fenced(_tiers(facts.tiers, catalog.ids), facts)}
    return DefragPrompt(fill_template(template, parts, facts.nonce), catalog.ids)


def _without_secrets(facts: DefragPromptFacts) -> DefragPromptFacts:
    visible = tuple(each for each in facts.catalog if each.meta.sensitivity is not Sensitivity.SECRET)
    return evolve(facts, catalog=visible, shown=tuple(filter(_is_whole, facts.shown)))


def _is_whole(stored: StoredEntry) -> bool:
    """Whether an agent would see all of the entry: one that is or holds a secret is not shown."""
    text = f"{stored.meta.title}\n{stored.meta.description}\n{stored.body}"
    return stored.meta.sensitivity is not Sensitivity.SECRET and redact(text).text == text


def _fenced(text: str, facts: DefragPromptFacts) -> str:
    return fenced(text, facts.nonce, facts.fence)


def _closing(facts: DefragPromptFacts) -> str:
    if len({each.meta.id for each in facts.shown}) < len(facts.catalog):
        return "Not every note is shown in full: merge, split, edit and archive only those that are."
    return "Every note is shown in full."


# -- what the store holds ---------------------------------------------------------------------------------------------


def _catalog(facts: DefragPromptFacts, max_chars: int) -> Catalog:
    first = dict.fromkeys(_most_important_first(facts))
    ranks = {id: rank for rank, id in enumerate(first)}
    last = len(ranks)
    entries = sorted(
        facts.catalog, key=lambda each: (ranks.get(each.meta.id, last), -_touched_at_ms(each, facts), each.meta.id)
    )
    lines = CatalogFacts(
        tiers=facts.tiers,
        usage=facts.usage,
        profiles=facts.profiles,
        eligible=facts.eligible,
        at_most_warm=facts.at_most_warm,
        left_alone=facts.left_alone,
        shown=frozenset(each.meta.id for each in facts.shown),
    )
    return render_catalog(entries, frozenset(first), lines, max_chars)


def _most_important_first(facts: DefragPromptFacts) -> Iterator[str]:
    yield from (*facts.tiers.hot, *facts.tiers.warm)
    yield from (each.meta.id for each in facts.catalog if each.meta.pinned)
    yield from (each.meta.id for each in facts.shown)


def _touched_at_ms(listed: Listed, facts: DefragPromptFacts) -> int:
    """When it was last written or read: what might deserve another tier is likely to be new or in use."""
    usage = facts.usage.get(listed.meta.id)
    return max(listed.meta.updated_at_ms, (usage.last_at_ms or 0) if usage else 0)


def _tiers_chars(facts: DefragPromptFacts, room: int) -> int:
    count = len(facts.tiers.hot) + len(facts.tiers.warm)
    return min(_TIER_WORDS_CHARS + count * _TIER_ID_CHARS, max(room, 0) // _MOST_FOR_TIERS)


def _tiers(tiers: TierList, listed: frozenset[str]) -> str:
    rows = (("hot", tiers.hot), ("warm", tiers.warm))
    return "\n".join(f"{name}: {', '.join(id for id in ids if id in listed) or '(none)'}" for name, ids in rows)


# -- what was found ---------------------------------------------------------------------------------------------------


def _findings(facts: DefragPromptFacts) -> str:
    """A line for each finding about entries shown in full, those that can be judged whole first; a count of the others."""
    shown = frozenset(each.meta.id for each in facts.shown)
    catalog = frozenset(each.meta.id for each in facts.catalog)
    known = [each for each in facts.findings if catalog.issuperset(each.ids)]
    near = [each for each in known if not shown.isdisjoint(each.ids)]
    whole = [each for each in near if shown.issuperset(each.ids)]
    in_part = [each for each in near if not shown.issuperset(each.ids)]
    lines: list[str] = []
    room = facts.budget.findings_chars
    for finding in (*whole, *in_part):
        line = _finding(finding)
        if len(line) + 1 > room:
            break
        lines.append(line)
        room -= len(line) + 1
    left = len(known) - len(lines)
    if left:
        lines.append(f"({left:,} more, about notes that are not shown in full or less pressing, wait for another run)")
    return "\n".join(lines) or "(nothing)"


def _finding(finding: Finding) -> str:
    ids = ", ".join(finding.ids[:_MAX_FINDING_IDS])
    more = len(finding.ids) - _MAX_FINDING_IDS
    others = f" and {more:,} more" if more > 0 else ""
    return f"- {finding.kind.value}: {ids}{others}: {stored_line(finding.reason, _MAX_REASON_CHARS)}"


# -- entries in full --------------------------------------------------------------------------------------------------


def _note(stored: StoredEntry, facts: DefragPromptFacts) -> str:
    meta = stored.meta
    lines = (
        f"about: {', '.join(_about(stored, facts))}",
        f"title: {stored_line(meta.title, _MAX_LINE_CHARS)}",
        *_description(stored),
        f"tags: {stored_line(' '.join(meta.tags), _MAX_LINE_CHARS)}",
        f"body:\n{plain(stored.body)}",
    )
    text = "\n".join(lines)
    return f"<<<{facts.fence} note {meta.id}\n{_fenced(text, facts)}\n{facts.fence}>>>"


def _description(stored: StoredEntry) -> Iterator[str]:
    description = stored.meta.description
    if description and description != derive_description(stored.body):
        yield f"description: {stored_line(description, _MAX_LINE_CHARS)}"


def _about(stored: StoredEntry, facts: DefragPromptFacts) -> Iterator[str]:
    meta = stored.meta
    yield meta.kind.value
    yield stored_line(meta.scope, _MAX_LINE_CHARS)
    yield f"origin {meta.origin.value}"
    yield f"from {day_of(meta.created_at_ms)}"
    if day_of(meta.updated_at_ms) != day_of(meta.created_at_ms):
        yield f"updated {day_of(meta.updated_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {day_of(meta.valid_until_ms)}"
    turns = sum(len(source.turns) for source in meta.sources)
    if turns:
        yield f"cites {turns:,} turns of {len(meta.sources):,} sessions"
    yield from locks(stored.listed, facts.left_alone)
