"""Findings about entries that are too long, or too short to stand alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.outline import Outline
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
_MOST_TITLE_TERMS = 20
"""A longer title is a text."""


def oversized(id: str, outline: Outline) -> Finding | None:
    """A finding about an entry that is much longer than one subject needs."""
    profile = outline.profile
    lines = profile.body_lines - outline.code_lines / 2
    chars = profile.body_chars - outline.code_chars / 2
    if lines <= MOST_LINES and chars <= MOST_CHARS:
        return None
    of_code = f" ({outline.code_lines} of the lines are code, which counts half)" if outline.code_lines else ""
    excess = max(lines / MOST_LINES, chars / MOST_CHARS)
    return Finding(
        FindingKind.OVERSIZED,
        (id,),
        f"{profile.body_lines} lines and {profile.body_chars:,} characters{of_code}; "
        f"about {MOST_LINES} lines and {MOST_CHARS:,} characters are enough for one subject",
        round(1 - 1 / excess, 4),
    )


def is_short(body_chars: int) -> bool:
    """Whether an entry says so little that with others it may be about one thing."""
    return body_chars < SHORT_CHARS


def fragmented(entries: Sequence[Features]) -> Iterator[Finding]:
    """Groups of very short entries of one scope about one subject: a tag (or none at all) and two words of the titles are
    common to all of them. `entries` are those that are short (`is_short`)."""
    short = [each for each in entries if each.kind is not Kind.HANDOFF]
    for group in _by_subject(short):
        for part in slices(in_precedence(group)):
            if len(part) >= FEWEST_FRAGMENTS:
                yield _fragments(part)


def _fragments(group: tuple[Features, ...]) -> Finding:
    chars = max(each.body_chars for each in group)
    reason = (
        f"{len(group)} entries about one subject, by tags and titles, of at most {chars} characters each "
        f"(short: under {SHORT_CHARS})"
    )
    return Finding(FindingKind.FRAGMENTED, tuple(each.id for each in group), reason, round(1 - 1 / len(group), 4))


def _by_subject(short: Sequence[Features]) -> Iterator[list[Features]]:
    """Groups of entries that share scope, a tag (or the lack of any) and two words of their titles; each entry once, in the
    largest group that it belongs to."""
    sharing: dict[tuple[str, str, tuple[int, ...]], list[Features]] = defaultdict(list)
    for each in short:
        if len(each.title) > _MOST_TITLE_TERMS:
            continue
        for words in combinations(each.title, _COMMON_TITLE_TERMS):
            for tag in each.tags or ("",):
                sharing[each.scope, tag, words].append(each)
    groups = (group for group in sharing.values() if len(group) >= FEWEST_FRAGMENTS)
    grouped: set[str] = set()
    for group in sorted(groups, key=lambda group: (-len(group), [each.id for each in group])):
        free = [each for each in group if each.id not in grouped]
        if len(free) >= FEWEST_FRAGMENTS:
            grouped.update(each.id for each in free)
            yield free
