"""Redaction: what looks like a secret is replaced by its kind, before it reaches a prompt, a disk or git (P20)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from attrs import frozen

from agent_memory.redaction.coats import encoded_spans, escaped_spans, wrapped_spans
from agent_memory.redaction.rule import RULES, Rule, Span, compiled
from agent_memory.text.plain_text import one_line, spliced

_UNBOUNDED_CHARS = 1_000_000

_MARK = "[redacted:"
_MARKED = re.compile(re.escape(_MARK) + r"[a-z0-9-]{1,40}\]")
_STEP_CHARS = 1 << 20
CROWDED = "crowded"
"""The name of a stretch in which what announces secrets stands so close that to read each would take too long."""
_CROWDED_CHARS = 512
"""Such a stretch goes as a whole, up to the end of the line that reaches so far, or twice as far."""
_SPARSE_CHARS = 30
"""After so many without an announcement the next one is read again."""
_CREDIT, _LEAST_CREDIT, _CREDIT_CHAR, _PAY_CHAR = 8_000, 2_000, 4, 2
_TRY, _JUDGED, _FOUND = 12, 20, 40
"""The effort of the rules, in quarters of a microsecond: of one try, of one judgement at most, of one secret. Each character
of the text that is read pays for some; what they are ahead of that is their credit, less of it in a short text."""


@frozen
class Redacted:
    """A text without the secrets that were found in it."""

    text: str
    found: tuple[tuple[str, int], ...] = ()
    """How many secrets of each name, by name; empty when the text is unchanged."""


_WHOLE = tuple((rank, rule) for rank, rule in enumerate(RULES) if rule.reads == "whole")


def _by_keyword() -> dict[str, list[tuple[int, Rule]]]:
    """Returns the other rules of each keyword, with their ranks; the shortest first."""
    own: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
    for rank, rule in enumerate(RULES):
        for keyword in rule.keywords if rule.reads != "whole" else ():
            own[keyword].append((rank, rule))
    return {keyword: own[keyword] for keyword in sorted(own, key=len)}


_OWN = _by_keyword()


@cache
def _rules_of(keyword: str) -> tuple[tuple[int, Rule, int], ...]:
    """Returns the rules of a keyword and of every keyword that it begins with, since a search reports the longest; with
    each the length of its longest keyword. Of those that read what stands behind a name only the one of the longest
    name counts."""
    sizes = range(1, len(keyword) + 1)
    found = {rank: (rank, rule, size) for size in sizes for rank, rule in _OWN.get(keyword[:size], ())}
    names = max((size for _, rule, size in found.values() if rule.reads == "behind"), default=0)
    return tuple(each for each in found.values() if each[1].reads != "behind" or each[2] == names)


def _hits(low: str) -> Iterator[tuple[int, str]]:
    """Yields where a keyword begins in a lowered text and which, the longest, in order; also inside another one."""
    for first in range(0, len(low), _STEP_CHARS):
        found: dict[int, str] = {}
        for keyword in _OWN:
            end = first + _STEP_CHARS + len(keyword) - 1
            start = low.find(keyword, first, end)
            while start >= 0:
                found[start] = keyword
                start = low.find(keyword, start + 1, end)
        yield from sorted(found.items())


def _marks(text: str) -> list[tuple[int, int]]:
    """Returns where the kinds of secrets stand that were replaced already, in order."""
    return [mark.span() for mark in _MARKED.finditer(text)]


def _meets(marks: list[tuple[int, int]], start: int, end: int) -> bool:
    before = bisect_left(marks, (end,))
    return before > 0 and marks[before - 1][1] > start


def _plain_spans(text: str, credit: int = _CREDIT) -> Iterator[Span]:
    """Yields every secret, overlapping ones too. The end of one counts as the beginning of a word, as it will once it
    is gone."""
    low = lowered(text)
    for rank, rule in _WHOLE:
        for match in compiled(rule.expression).finditer(text) if any(map(low.__contains__, rule.keywords)) else ():
            yield from (Span(*place, rank, rule.name) for place in rule.judge(match.start(), match))
    ends: set[int] = set()
    credit = max(_LEAST_CREDIT, min(credit, _CREDIT_CHAR * len(text)))
    effort = covered = 0
    marks = _marks(text)
    for start, keyword in _hits(low):
        if start < covered or _meets(marks, start, start + 1):
            continue
        if effort > _PAY_CHAR * start + credit:
            end = start + _CROWDED_CHARS
            newline = text.find("\n", end, end + _CROWDED_CHARS)
            covered = newline if newline >= 0 else min(len(text), end + _CROWDED_CHARS)
            effort = _PAY_CHAR * (covered + _SPARSE_CHARS) + credit
            yield Span(start, covered, len(RULES), CROWDED)
            continue
        effort = max(effort, _PAY_CHAR * start)
        for rank, rule, size in _rules_of(keyword):
            effort += _TRY
            if read := rule.match(text, start, size, ends):
                chars = read.end() - start
                effort += min(2 * chars, _JUDGED + chars // 4)
                for first, end in rule.judge(start, read):
                    if not _meets(marks, first, end):
                        ends.add(end)
                        effort += _FOUND
                        yield Span(first, end, rank, rule.name)


def _decoded_spans(text: str) -> Iterator[Span]:
    """Yields those of a text that itself was encoded: it may hide one more coat, and no more."""
    yield from _plain_spans(text)
    yield from encoded_spans(text, _plain_spans)
    yield from escaped_spans(text, _plain_spans)


def _united(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans in order, overlapping ones as one that bears the best-informed name."""
    united: list[Span] = []
    for span in sorted(spans):
        if united and span.start < united[-1].end:
            last = united.pop()
            rank, name = min((last.rank, last.name), (span.rank, span.name))
            united.append(Span(last.start, max(last.end, span.end), rank, name))
        else:
            united.append(span)
    return united


def _replaced(text: str, spans: Iterable[Span]) -> str:
    """Returns the text with the kind of each of these, between which nothing overlaps, in its place."""
    return spliced(text, ((span.start, span.end, f"{_MARK}{span.name}]") for span in spans))


def redact(text: str) -> Redacted:
    """Returns `text` with every secret that is found replaced. Total and idempotent: a second pass finds nothing."""
    counts: Counter[str] = Counter()
    credit = _CREDIT
    while True:
        marks = _marks(text)
        coated = (*encoded_spans(text, _decoded_spans), *escaped_spans(text, _decoded_spans))
        unmarked = (span for span in coated if not _meets(marks, span.start, span.end))
        spans = _united((*_plain_spans(text, credit), *wrapped_spans(text, _plain_spans), *unmarked))
        if not spans:
            return Redacted(text, tuple(sorted(counts.items())))
        counts.update(span.name for span in spans)
        text = _replaced(text, spans)
        if counts[CROWDED]:
            credit = _LEAST_CREDIT


_ENDINGS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,3}(?![^\s/\\\"'`,;:)\]}>])")
"""`.tar.gz`, at the end of a name: a token in front of it is whole."""
_PART = re.compile(r"[^/\\]+")
_WORD = re.compile(r"(?<![^\s\"'`])[^\s\"'`/\\=.]*+[/\\=.][^\s\"'`]*+")
"""A possible path in a text: something with a separator, an assignment or an ending."""
_TELLS = re.compile(r"[/\\=][^\s/\\]*?(?:=|[\w+-]{20})|[\w+-]{20}\.[A-Za-z]|=.*\.[A-Za-z]")
"""Signs that a part of it is worth a look: an assignment, or enough characters for a token."""

_NAME_TELLS = re.compile(r"=[^=]{4}|[\w+-]{20}")
"""The same of one part."""
_NAME_CHARS = 1_000
"""No file has a longer name, and what is longer was looked at as text."""


def stored_line(text: str, max_chars: int = _UNBOUNDED_CHARS) -> str:
    """Returns one clean line without secrets, at most `max_chars` characters."""
    return one_line(redact(one_line(text, _UNBOUNDED_CHARS)).text, max_chars)


def redact_path(path: str) -> str:
    """Returns the path with every secret in it replaced, each of its parts and the name without its ending looked at by
    itself.

    Separators and endings stay. A part is `b` in `/a/b/c`, `a\\b\\c` and `fix/b`. Total and idempotent.
    """
    return _without_secrets_in_parts(redact(path).text)


def redact_with_paths(text: str) -> str:
    """Returns a text such as a command, with the secrets in it and in the paths that it names replaced."""

    def redacted(word: re.Match[str]) -> str:
        return _without_secrets_in_parts(word[0]) if _TELLS.search(word[0]) else word[0]

    return _WORD.sub(redacted, redact(text).text)


def _without_secrets_in_parts(path: str) -> str:
    def redacted(part: re.Match[str]) -> str:
        if not _NAME_TELLS.search(part[0]) or len(part[0]) > _NAME_CHARS:
            return part[0]
        name = _ENDINGS.sub("", part[0])
        return _replaced(part[0], _united((*_plain_spans(name), *encoded_spans(name, _plain_spans))))

    while (cleaned := _PART.sub(redacted, path)) != path:
        path = cleaned
    return path


def lowered(text: str) -> str:
    """Returns `text` in lower case with every character at its old index (`İ` alone would become two)."""
    return text.replace("İ", "i").lower()
