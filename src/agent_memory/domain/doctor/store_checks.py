"""What can be wrong with the store as a whole: links, caps, what an analysis finds, tiers and targets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Check, Finding
from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, Finding as AnalysisFinding, FindingKind
from agent_memory.domain.plan import max_changes
from agent_memory.domain.section import Published
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.wording import describe

# -- links ------------------------------------------------------------------------------------------------------------


def examine_links(
    path: str, targets: Iterable[str], known: frozenset[str], archived: frozenset[str]
) -> Iterator[Finding]:
    """Links of one note to entries that only the archive has. `known`: live ids and aliases."""
    for target in targets:
        if target in archived and target not in known:
            yield of.ARCHIVED_LINK.found(
                path,
                f"It links to {target}, which is archived; `memory read {target} --archived` shows it",
            )


def examine_aliases(live: Sequence[Listed]) -> Iterator[Finding]:
    """Aliases that lead to two places."""
    claims: dict[str, list[str]] = defaultdict(list)
    for each in live:
        for alias in each.meta.aliases:
            claims[alias].append(each.path)
    path_of = {each.meta.id: each.path for each in live}
    clashes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for alias, claiming in claims.items():
        first = path_of.get(alias, claiming[0])
        for path in claiming:
            if path != first:
                clashes[path, first].append(alias)
    for (path, first), shared in clashes.items():
        more = f" and {len(shared) - 1:,} more belong" if len(shared) > 1 else " belongs"
        yield of.ALIAS_CLASH.found(path, f"Its alias {shared[0]}{more} to {first} too; take it out of one of them")


# -- the analysis -----------------------------------------------------------------------------------------------------

_CHECKS: Mapping[FindingKind, Check] = {
    FindingKind.CONTRADICTION: of.CONTRADICTION,
    FindingKind.DUPLICATE: of.DUPLICATE,
    FindingKind.NEAR_DUPLICATE: of.NEAR_DUPLICATE,
    FindingKind.OVERLAP: of.OVERLAP,
    FindingKind.SURPLUS: of.SURPLUS,
    FindingKind.OVERSIZED: of.OVERSIZED,
    FindingKind.FRAGMENTED: of.FRAGMENTED,
    FindingKind.DANGLING_LINK: of.UNRESOLVED_LINK,
    FindingKind.ORPHAN: of.ORPHAN,
    FindingKind.STALE: of.STALE,
}
"""Expired entries are not among them: how bad that is depends on how long a defrag is overdue (`note_checks`)."""


def examine_analysis(analysis: Analysis, paths: Mapping[str, str]) -> Iterator[Finding]:
    """One finding a finding, worst first. `paths` are those of the live entries, by id."""
    for finding in analysis.findings:
        check = _CHECKS.get(finding.kind)
        if check is not None:
            yield check.found(_subject(finding, paths), _sentence(finding))


def _subject(finding: AnalysisFinding, paths: Mapping[str, str]) -> str:
    first = paths.get(finding.ids[0]) if finding.ids else None
    return first if first is not None else " ".join(finding.ids)


def _sentence(finding: AnalysisFinding) -> str:
    reason = finding.reason.rstrip(".")
    others = [id for id in finding.ids[1:] if id not in reason]
    with_whom = f" (with {', '.join(others)})" if others else ""
    begins_with_id = reason.startswith("id__")
    return f"{reason if begins_with_id else reason[:1].upper() + reason[1:]}{with_whom}"


# -- caps -------------------------------------------------------------------------------------------------------------


def examine_caps(entries: int, chars: int, *, max_entries: int | None, max_chars: int | None) -> Iterator[Finding]:
    """A finding for each cap that this many live entries, and characters of their bodies, are over."""
    how = f"`memory defrag` archives those that matter least, at most {max_changes(entries):,} a run"
    if max_entries is not None and entries > max_entries:
        yield of.SURPLUS.found("limits.maxEntries", f"There are {entries:,} live notes, {max_entries:,} at most; {how}")
    if max_chars is not None and chars > max_chars:
        yield of.SURPLUS.found(
            "limits.maxChars", f"The live notes have {chars:,} characters, {max_chars:,} at most; {how}"
        )


# -- tiers and targets ------------------------------------------------------------------------------------------------


TIERS_FILE = "state/tiers.json"


def examine_tiers(tiers: TierList, live: Sequence[Listed]) -> Iterator[Finding]:
    """Pins that are not hot. An empty list is one that no defrag has made yet."""
    if not (tiers.hot or tiers.warm):
        return
    for each in pinned_outside(tiers, live):
        yield of.PINNED_NOT_HOT.found(each.path, "It is pinned and not hot; the next defrag makes it so")


def pinned_outside(tiers: TierList, live: Sequence[Listed]) -> tuple[Listed, ...]:
    """Pinned entries that may be hot and are not, in the order of the listing."""
    return tuple(
        each
        for each in live
        if each.meta.pinned and each.meta.sensitivity is not Sensitivity.SECRET and each.meta.id not in tiers.hot
    )


def with_pins(tiers: TierList, pinned: Sequence[str]) -> TierList:
    """The tier list with these ids at the end of what is hot."""
    added = tuple(id for id in pinned if id not in tiers.hot)
    return TierList((*tiers.hot, *added), tuple(id for id in tiers.warm if id not in added))


def examine_targets(published: Published) -> Iterator[Finding]:
    """What a dry run of publishing says of each target."""
    for target in published.targets:
        if target.outcome == "planned":
            yield of.TARGET_OUT_OF_DATE.found(
                target.path, "Its section is not what it would be now; `memory generate-agents-md` writes it"
            )
        elif target.error is not None:
            yield of.TARGET_REFUSED.found(target.path, describe(target.error).rstrip("."))
        rendered = target.rendered.warnings if target.rendered is not None else ()
        for warning in dict.fromkeys((*target.warnings, *rendered)):
            yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))
