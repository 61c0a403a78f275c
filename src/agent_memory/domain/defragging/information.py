"""The information check: what a rewrite must not lose without saying so (design §5.2). The heart of P12."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_memory.domain.defragging.changed_claims import invented_words, swapped_words
from agent_memory.domain.defragging.comparable import comparable, said_by
from agent_memory.domain.defragging.iso_dates import with_iso_dates
from agent_memory.domain.defragging.kept_lines import (
    chars_of,
    claims_among,
    distinct_lines,
    lines_of,
    lost_lines,
    unlike_lines,
)
from agent_memory.domain.defragging.turned import turned_claims
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.planning.salience import lost_salience
from agent_memory.domain.text.terms import content_terms

Reasons = tuple[str, ...]

LEAST_KEPT = 0.9
"""Share of the distinct lines."""
MOST_SIZE, LEAST_SIZE = 1.1, 0.25
"""Of the distinct lines together."""

_MOST_NAMED = 12
_MOST_QUOTED_CHARS = 80
_WITH_DIGIT = re.compile(r"(?<![\w.,:/-])(?:\d[\d.,:]*[^\W\d_]{1,5}\b|[^\W\d_]+\d\w*(?:[.,:]\w+)*)")
"""A quantity with its unit (`30s`, `5GB`), a name with a number in it (`utf8`)."""
_HYPHENATED = re.compile(r"[^\W\d_]{1,30}(?:[-/][^\W\d_]{1,30}){1,4}")
_NUMBER = re.compile(r"\d[\d.,:]*")
_QUANTITY = re.compile(r"(\d[\d.,:]*)([^\W\d_]+)")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "p.ex", "and/or", "e/ou"})


def lost_content(sources: Iterable[str], after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """What the sources say and `after` does not, unless it is named in `drops`: salient tokens, negations, turned claims.

    Nothing is lost by other list numbers, spellings of dates, hyphens, a unit set apart, or the end of a sentence.
    """
    old = tuple(map(comparable, sources))  # each alone: a code block that is left open ends with its text
    new, named = with_iso_dates(after), tuple(map(with_iso_dates, drops))
    said = "\n".join((new, *named)).lower()
    lost = (token for text in old for token in (*lost_salience(text, new, named), *_lost_words_with_digits(text, said)))
    tokens = tuple(token for token in lost if not _is_said_otherwise(token.lower(), said))
    turned = turned_claims("\n".join(old), comparable(after), named)
    swapped = swapped_words("\n".join(old), comparable(after), named)
    return tuple(dict.fromkeys((*tokens, *turned, *swapped)))


def loss_problems(sources: Iterable[str], after: str, drops: Iterable[str] = ()) -> Reasons:
    """Why a text must not take the place of others, in words."""
    lost = lost_content(sources, after, drops)
    if not lost:
        return ()
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    return (f"it would lose {', '.join(map(repr, lost[:_MOST_NAMED]))}{more}, and its drops do not name that",)


def information_problems(
    sources: tuple[MemoryEntry, ...], results: tuple[MemoryEntry, ...], drops: tuple[str, ...] = ()
) -> Reasons:
    """Why these results must not take the place of these sources, in words; nothing for what keeps all that they say."""
    after = "\n\n".join(f"{each.meta.title}\n{each.meta.description}\n{each.body}" for each in results)
    lost = loss_problems(map(said_by, sources), after, drops)
    lost += invented_words("\n".join(map(said_by, sources)), after)
    return lost + _line_problems(sources, after, drops) + _size_problems(sources, results)


def _line_problems(sources: tuple[MemoryEntry, ...], after: str, drops: tuple[str, ...]) -> Reasons:
    lines = claims_among(distinct_lines(each.body for each in sources))
    lost = lost_lines(lines, content_terms("\n".join((after, *drops))))
    if len(lines) - len(lost) >= LEAST_KEPT * len(lines):
        return ()
    example = lost[0].text[:_MOST_QUOTED_CHARS]
    return (
        f"it would lose {len(lost)} of {len(lines)} lines, for example {example!r}, and its drops do not name them",
    )


def _size_problems(sources: tuple[MemoryEntry, ...], results: tuple[MemoryEntry, ...]) -> Reasons:
    union = distinct_lines(each.body for each in sources)
    # The titles of the sources often become headings.
    most = MOST_SIZE * chars_of(distinct_lines(text for each in sources for text in (each.meta.title, each.body)))
    whole, size = chars_of(union), sum(chars_of(lines_of(each.body)) for each in results)
    if size > most:
        return (f"its text has {size:,} characters, more than 110 % of the {whole:,} that it is made from",)
    if size < LEAST_SIZE * whole and size < LEAST_SIZE * chars_of(unlike_lines(union)):
        return (f"its text has {size:,} characters, less than 25 % of the {whole:,} that it is made from",)
    return ()


def _lost_words_with_digits(before: str, after: str) -> list[str]:
    here = {word.lower() for word in re.findall(r"\w+(?:[.,:]\w+)*", after)}
    words = dict.fromkeys(word.lower() for word in _WITH_DIGIT.findall(before))
    return [word for word in words if word not in here]


def _is_said_otherwise(lost: str, after: str) -> bool:
    """Whether a lost token is only spelled differently: `read-only` as "read only", `30 s` as "30s"."""
    if lost in _ABBREVIATIONS:
        return True
    if _HYPHENATED.fullmatch(lost):
        return _is_in(r"[\s/-]?".join(map(re.escape, re.split(r"[-/]", lost))), after)
    if _NUMBER.fullmatch(lost):
        return _is_in(rf"{re.escape(lost)}[^\W\d_]{{1,5}}", after)
    quantity = _QUANTITY.fullmatch(lost)
    return quantity is not None and _is_in(rf"{re.escape(quantity[1])}\s?{re.escape(quantity[2])}", after)


def _is_in(pattern: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,:-]){pattern}(?!\w)", text) is not None
