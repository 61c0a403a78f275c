"""The information check: what a rewrite must not lose without saying so (design §5.2). The heart of P12."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import frozen

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.planning.changed_claims import invented_words, swapped_words, turned_claims
from agent_memory.domain.text.markdown import derive_description, find_code, find_links, without_see_also
from agent_memory.domain.text.salience import lost_salience
from agent_memory.domain.text.terms import content_terms, coverage

# -- texts as they are compared -------------------------------------------------------------------------------------


_MONTHS = (
    ("jan", "january", "janeiro"),
    ("feb", "february", "fev", "fevereiro"),
    ("mar", "march", "março", "marco"),
    ("apr", "april", "abr", "abril"),
    ("may", "mai", "maio"),
    ("jun", "june", "junho"),
    ("jul", "july", "julho"),
    ("aug", "august", "ago", "agosto"),
    ("sep", "sept", "september", "set", "setembro"),
    ("oct", "october", "out", "outubro"),
    ("nov", "november", "novembro"),
    ("dec", "december", "dez", "dezembro"),
)
_NUMBER_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH = rf"({'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|º)?"
_DAY_FIRST = re.compile(rf"\b{_DAY}(?:\s+(?:de|of))?\s+{_MONTH}(?:,|\s+de|\s+of)?\s+(\d{{4}})\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+{_DAY},?\s+(\d{{4}})\b", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\w/.-])(\d{4})/(\d{2})/(\d{2})(?![\w/-])")


def with_iso_dates(text: str) -> str:
    """The text with whole dates as `2026-02-13`: English and Portuguese months, and year, month and day with slashes."""
    text = _DAY_FIRST.sub(lambda date: _iso(date[3], date[2], date[1]) or date[0], text)
    text = _MONTH_FIRST.sub(lambda date: _iso(date[3], date[1], date[2]) or date[0], text)
    return _SLASHED.sub(r"\1-\2-\3", text)


def _iso(year: str, month: str, day: str) -> str | None:
    number = _NUMBER_OF.get(month.lower())  # "ſeptember" is matched without case, and is no month
    return None if number is None else f"{year}-{number:02}-{int(day):02}"


_LIST_NUMBER = re.compile(r"(?m)^([ \t>]*)\d{1,3}[.)](?=[ \t])")
_SHOUTED = re.compile(
    r"\b(?:NEVER|ALWAYS|MUST|NOT|DO|DON|ONLY|ALL|ANY|NO|NOTE|IMPORTANT|WARNING|CAUTION|ATTENTION|NUNCA|SEMPRE|NÃO|IMPORTANTE)\b"
)
"""Function words in capitals, which are acronyms to nobody."""
_WORD = re.compile(r"\S+")


def said_by(entry: MemoryEntry) -> str:
    """All that an entry says: title, description where it is more than the body's beginning, and body."""
    meta, body = entry.meta, entry.body
    is_derived = meta.description == derive_description(body) or meta.description.rstrip("…") in body
    return "\n".join((meta.title, *(() if is_derived else (meta.description,)), body))


def comparable(text: str) -> str:
    """The text without targets of links and numbers of lists, dates in one spelling, shouted words in lower case.

    What is in code stays as it is.
    """
    parts, position = list[str](), 0
    text = without_targets(text)
    for start, end in find_code(text).ranges:
        parts += [_spoken(text[position:start]), text[start:end]]
        position = end
    return "".join((*parts, _spoken(text[position:])))


def without_targets(text: str) -> str:
    """The text with each link replaced by its label, or by nothing where it has none."""
    parts, position = list[str](), 0
    for link in find_links(text):
        parts += [text[position : link.start], link.label or ""]
        position = link.end
    return "".join((*parts, text[position:]))


def _spoken(text: str) -> str:
    text = _SHOUTED.sub(lambda word: word[0].lower(), _LIST_NUMBER.sub(r"\1", text))
    return with_iso_dates(_WORD.sub(lambda word: _without_end(word[0]) if "/" in word[0] else word[0], text))


def _without_end(path: str) -> str:
    """A path or URL, the end of its sentence set apart from it."""
    bare = path.rstrip(".,;:!?")
    return f"{bare} {path[len(bare) :]}" if bare != path and (bare[-1:].isalnum() or bare[-1:] == "/") else path


# -- lines ----------------------------------------------------------------------------------------------------------


KEPT_SHARE = 0.6
"""Of the content words of a line that must be in the result."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[^`]*$")
_MARKS = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>|\[[ xX]\])\s+|>)+")
_SAME_LINE = 0.6
_MOST_COMPARED = 2_000
"""Distinct lines that are compared with one another: with more, only equal ones count as one."""


@frozen
class Line:
    """One line that says something, without list, heading and quote marks and targets of links."""

    text: str
    terms: frozenset[str]
    heading: bool = False


def lines_of(body: str) -> tuple[Line, ...]:
    """The lines that hold a content word, in order, without the line of links at the end and the marks of code blocks."""
    lines = without_targets(without_see_also(body)).split("\n")
    read = (_line(line) for line in lines if not _FENCE.match(line))
    return tuple(line for line in read if line.terms)


def distinct_lines(bodies: Iterable[str]) -> tuple[Line, ...]:
    """The lines of all bodies, each once however often it occurs, compared without case and white space."""
    found: dict[str, Line] = {}
    for body in bodies:
        for line in lines_of(body):
            found.setdefault(line.text.casefold(), line)
    return tuple(found.values())


def lost_lines(lines: Iterable[Line], said: frozenset[str]) -> tuple[Line, ...]:
    """The lines of which less than `KEPT_SHARE` of the content words are in `said`."""
    return tuple(line for line in lines if coverage(line.terms, said) < KEPT_SHARE)


def claims_among(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines that count: not headings, which may be worded anew, unless there is nothing else."""
    return tuple(line for line in lines if not line.heading) or lines


def chars_of(lines: Iterable[Line]) -> int:
    """Characters of the lines together."""
    return sum(len(line.text) for line in lines)


def unlike_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines without those that say nearly the same as an earlier one."""
    by_terms: Mapping[frozenset[str], Line] = {line.terms: line for line in reversed(lines)}
    once = tuple(reversed(tuple(by_terms.values())))
    if len(once) > _MOST_COMPARED:
        return once
    kept: list[Line] = []
    for line in once:
        if all(len(line.terms & other.terms) < _SAME_LINE * len(line.terms | other.terms) for other in kept):
            kept.append(line)
    return tuple(kept)


def _line(text: str) -> Line:
    bare = " ".join(_MARKS.sub("", text).split())
    return Line(bare, content_terms(bare), _HEADING.match(text) is not None)


# -- the check ------------------------------------------------------------------------------------------------------


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
    after = "\n\n".join(each.whole for each in results)
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
