"""Findings about entries that are too long, or too short to stand alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.precedence import in_precedence
from agent_memory.domain.analysis.stars import slices
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.vocabulary import Kind

MOST_LINES = 40
"""Lines of an entry that are not blank; a line of fenced code counts half."""
MOST_CHARS = 4_000
"""Characters of an entry; those of fenced code count half."""
SHORT_CHARS = 280
"""An entry of fewer characters is a fragment where others are about the same."""
FEWEST_FRAGMENTS = 3

_COMMON_TITLE_TERMS = 2
_MOST_TITLE_TERMS = 8


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
    """Groups of very short entries of one scope about one subject: a tag in common (or none at all), and two words of the
    titles in common from one to the next."""
    short = [each for each in entries if each.profile.body_chars < SHORT_CHARS and each.kind is not Kind.HANDOFF]
    for group in _chained(short):
        if len(group) >= FEWEST_FRAGMENTS:
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


def _chained(short: Sequence[Features]) -> list[list[Features]]:
    """The entries grouped so that from each of a group one comes to every other over common words and tags."""
    parents = list(range(len(short)))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    by_subject: dict[tuple[str, str, tuple[int, ...]], list[int]] = defaultdict(list)
    for at, each in enumerate(short):
        for words in combinations(each.title[:_MOST_TITLE_TERMS], _COMMON_TITLE_TERMS):
            for tag in each.tags or ("",):
                by_subject[each.scope, tag, words].append(at)
    for ats in by_subject.values():
        for one, other in pairwise(ats):
            parents[root(one)] = root(other)
    groups: dict[int, list[Features]] = defaultdict(list)
    for at, each in enumerate(short):
        groups[root(at)].append(each)
    return list(groups.values())
