"""Looks at all notes of a store in one pass: the features of each by itself, then what is found in one or several of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of, in_precedence, slices
from agent_memory.domain.analysis.pairs import conflicts_among, contradictions, duplicates, likenesses
from agent_memory.domain.entry import Meta, StoredEntry, last_read
from agent_memory.domain.findings import WORST_FIRST, Analysis, Finding, FindingKind
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.vocabulary import Kind

_WRONG_ANYWAY = (FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK)


def analyze(entries: Iterable[StoredEntry], facts: AnalysisFacts) -> Analysis:
    """Every finding about the live entries, worst first, and the profile of each.

    The entries are taken one at a time and no body is kept, so a generator that reads them is enough. Their order makes no
    difference. Of two files with one id the first counts. Time and memory grow with their number and length, some 10 kB an
    entry. Reasons hold no secret, and quote nothing of a secret entry; such entries are analysed like all others.
    """
    return analyze_features(map(features_of, entries), facts)


def analyze_features(features: Iterable[Features], facts: AnalysisFacts) -> Analysis:
    """The same of features that were taken from the entries on the way."""
    by_id: dict[str, Features] = {}
    for each in features:
        by_id.setdefault(each.id, each)
    live = [by_id[id] for id in sorted(by_id)]
    worth_saying = (
        each for each in _findings(live, facts) if each.kind in _WRONG_ANYWAY or facts.left_alone.isdisjoint(each.ids)
    )
    worst_first = sorted(worth_saying, key=lambda each: (WORST_FIRST[each.kind], -each.score, each.ids))
    return Analysis(tuple(worst_first), {each.id: each.profile for each in live})


def contradicted_in(notes: Sequence[StoredEntry]) -> dict[str, str]:
    """Of these notes, the ids of those that another one contradicts and outranks, each with the id of that one."""
    return {id: each.ids[0] for each in reversed(contradictions_among(notes)) for id in each.ids[1:]}


def contradictions_among(notes: Sequence[StoredEntry]) -> tuple[Finding, ...]:
    """The contradictions among these notes, none of which has expired."""
    return analyze(notes, AnalysisFacts(0)).of_kind(FindingKind.CONTRADICTION) if len(notes) > 1 else ()


def _findings(live: Sequence[Features], facts: AnalysisFacts) -> Iterator[Finding]:
    conflicts = conflicts_among([each for each in live if not has_passed(each.meta.expires_at_ms, facts.now_ms)])
    yield from contradictions(conflicts)
    free = [each for each in live if each.id not in facts.left_alone]
    yield from duplicates(free)
    yield from likenesses(free, {frozenset((each.one.id, each.other.id)) for each in conflicts})
    yield from fragmented(free)
    yield from dangling_links(live, facts.taken_ids)
    yield from orphans(live, facts)
    for each in live:
        yield from filter(None, (expired(each.meta, facts), oversized(each), stale(each.meta, facts)))


ORPHAN_DAYS = 30
"""Days that a new entry has to be read, tagged or linked."""
MOST_LINES = 40
"""Lines of an entry that are not blank; a line of fenced code counts half."""
MOST_CHARS = 4_000
"""Characters of an entry; those of fenced code count half."""
SHORT_CHARS = 280
"""An entry of fewer characters is a fragment where others are about the same."""
FEWEST_FRAGMENTS = 3

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no calendar shows what is later."""
_COMMON_TITLE_TERMS = 2
_MOST_TITLE_TERMS = 20
"""A longer title is a text."""
_MOST_LINKS_NAMED = 5


# -- time -------------------------------------------------------------------------------------------------------------


def expired(entry: Meta, facts: AnalysisFacts) -> Finding | None:
    """A finding about an entry whose `expiresAt` has come."""
    at_ms = entry.expires_at_ms
    if not has_passed(at_ms, facts.now_ms):
        return None
    return Finding(FindingKind.EXPIRED, (entry.id,), f"expired {_date(at_ms)}", _aged(facts.now_ms - at_ms, 30))


def stale(entry: Meta, facts: AnalysisFacts) -> Finding | None:
    """A finding about an entry that was neither read nor changed for `stale_days`; never about a pinned one."""
    if entry.pinned or entry.id in facts.hot_or_new:
        return None
    read_ms = last_read(entry, facts.usage)
    age_ms = facts.now_ms - max(entry.updated_at_ms, entry.created_at_ms, read_ms or 0)
    if age_ms < facts.stale_days * DAY_MS:
        return None
    how = "never read" if read_ms is None else f"last read {_date(read_ms)}"
    days = f"{age_ms // DAY_MS:,} days, stale from {facts.stale_days} on"
    reason = f"{how} and not changed since {_date(entry.updated_at_ms)}: {days}"
    return Finding(FindingKind.STALE, (entry.id,), reason, _aged(age_ms, facts.stale_days))


def _date(at_ms: int) -> str:
    return iso_of(min(max(at_ms, 0), _LAST_MS))[:10]


def _aged(age_ms: int, half_days: int) -> float:
    """From 0 towards 1 with age; a half at `half_days`."""
    return round(age_ms / (age_ms + half_days * DAY_MS), 4) if age_ms > 0 else 0.0


# -- size -------------------------------------------------------------------------------------------------------------


def oversized(entry: Features) -> Finding | None:
    """A finding about an entry that is much longer than one subject needs."""
    profile = entry.profile
    lines = profile.body_lines - entry.code_lines / 2
    chars = profile.body_chars - entry.code_chars / 2
    if lines <= MOST_LINES and chars <= MOST_CHARS:
        return None
    of_code = f" ({entry.code_lines} of the lines are code, which counts half)" if entry.code_lines else ""
    excess = max(lines / MOST_LINES, chars / MOST_CHARS)
    return Finding(
        FindingKind.OVERSIZED,
        (entry.id,),
        f"{profile.body_lines} lines and {profile.body_chars:,} characters{of_code}; "
        f"about {MOST_LINES} lines and {MOST_CHARS:,} characters are enough for one subject",
        round(1 - 1 / excess, 4),
    )


def fragmented(entries: Sequence[Features]) -> Iterator[Finding]:
    """Groups of very short entries of one scope about one subject: a tag (or none at all) and two words of the titles are
    common to all of them."""
    short = [each for each in entries if each.profile.body_chars < SHORT_CHARS and each.meta.kind is not Kind.HANDOFF]
    for group in _by_subject(short):
        for part in slices(in_precedence(group)):
            if len(part) >= FEWEST_FRAGMENTS:
                yield _fragments(part)


def _fragments(group: tuple[Features, ...]) -> Finding:
    chars = max(each.profile.body_chars for each in group)
    reason = (
        f"{len(group)} entries about one subject, by tags and titles, of at most {chars} characters each "
        f"(short: under {SHORT_CHARS})"
    )
    return Finding(FindingKind.FRAGMENTED, tuple(each.id for each in group), reason, round(1 - 1 / len(group), 4))


def _by_subject(short: Sequence[Features]) -> Iterator[list[Features]]:
    """Groups of entries that share scope, a tag (or the lack of any) and two words of their titles; each entry once, in the
    largest group that it belongs to."""
    sharing: dict[tuple[str, str, tuple[str, ...]], list[Features]] = defaultdict(list)
    for each in short:
        if len(each.title) > _MOST_TITLE_TERMS:
            continue
        for words in combinations(sorted(each.title), _COMMON_TITLE_TERMS):
            for tag in each.meta.tags or ("",):
                sharing[each.scope, tag, words].append(each)
    groups = (group for group in sharing.values() if len(group) >= FEWEST_FRAGMENTS)
    grouped: set[str] = set()
    for group in sorted(groups, key=lambda group: (-len(group), [each.id for each in group])):
        free = [each for each in group if each.id not in grouped]
        if len(free) >= FEWEST_FRAGMENTS:
            grouped.update(each.id for each in free)
            yield free


# -- links ------------------------------------------------------------------------------------------------------------


def dangling_links(live: Sequence[Features], taken_ids: Container[object]) -> Iterator[Finding]:
    """Entries with links to ids that no live or archived entry has, nor as an alias. `taken_ids` are casefolded."""
    bearers = _bearers(live)
    for each in live:
        gone = [id for id in each.links if id.casefold() not in bearers and id.casefold() not in taken_ids]
        if gone:
            more = len(gone) - _MOST_LINKS_NAMED
            names = ", ".join(gone[:_MOST_LINKS_NAMED]) + (f" and {more} more" if more > 0 else "")
            reason = f"{len(gone)} {'link leads' if len(gone) == 1 else 'links lead'} to no entry: {names}"
            yield Finding(FindingKind.DANGLING_LINK, (each.id,), reason, round(1 - 1 / (1 + len(gone)), 4))


def orphans(live: Sequence[Features], facts: AnalysisFacts) -> Iterator[Finding]:
    """Entries to which nothing leads: see `FindingKind.ORPHAN`."""
    bearers = _bearers(live)
    reached = {target for each in live for id in each.links if (target := bearers.get(id.casefold())) != each.id}
    times = Counter(tag for each in live for tag in set(each.meta.tags))
    for each in live:
        meta, days = each.meta, (facts.now_ms - each.meta.created_at_ms) // DAY_MS
        is_old = meta.created_at_ms <= facts.now_ms - ORPHAN_DAYS * DAY_MS
        if not is_old or meta.pinned or each.links or meta.id in reached or meta.id in facts.hot_or_new:
            continue
        if all(times[tag] == 1 for tag in meta.tags) and last_read(meta, facts.usage) is None:
            reason = f"no link, no tag in common with another entry, and never read in {days:,} days"
            yield Finding(FindingKind.ORPHAN, (meta.id,), reason, round(1 - ORPHAN_DAYS / (ORPHAN_DAYS + days), 4))


def _bearers(live: Sequence[Features]) -> Mapping[str, str]:
    """The ids of entries by their ids and aliases, casefolded; an id goes before an alias, and of several the last."""
    aliases = {alias.casefold(): each.id for each in live for alias in each.meta.aliases}
    return aliases | {each.id.casefold(): each.id for each in live}
