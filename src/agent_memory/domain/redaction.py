"""Redaction: what looks like a secret is replaced by its kind, before it reaches a prompt, a disk or git (P20)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from attrs import frozen

from agent_memory.domain.redacting.addresses import ADDRESSES, HEADERS
from agent_memory.domain.redacting.assignments import ASSIGNMENTS
from agent_memory.domain.redacting.blocks import block_spans
from agent_memory.domain.redacting.coats import encoded_spans, escaped_spans, wrapped_spans
from agent_memory.domain.redacting.rule import Rule, Span
from agent_memory.domain.redacting.tokens import TOKENS, VENDORS
from agent_memory.domain.text.plain_text import one_line

_UNBOUNDED_CHARS = 1_000_000

RULES: tuple[Rule, ...] = (*TOKENS, *ADDRESSES, *VENDORS, *HEADERS, *ASSIGNMENTS)
"""Best-informed first: where two find the same secret, the earlier one names it."""

_MARK = "[redacted:"
_MARK_CHARS = 60
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
    """Each secret is now `[redacted:<name>]`."""
    found: tuple[tuple[str, int], ...] = ()
    """How many secrets of each name, by name; empty when the text is unchanged."""


@cache
def _own_rules() -> dict[str, list[tuple[int, Rule]]]:
    """The rules of each keyword, with their ranks; the shortest first."""
    own: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
    for rank, rule in enumerate(RULES):
        for keyword in rule.keywords:
            own[keyword].append((rank, rule))
    return {keyword: own[keyword] for keyword in sorted(own, key=len)}


@cache
def _rules_of(keyword: str) -> tuple[tuple[int, Rule, int], ...]:
    """The rules of a keyword and of every keyword that it begins with, since a search reports the longest; with each the
    length of its longest keyword. Of those that read what stands behind a name only the one of the longest name counts."""
    own = _own_rules()
    found = {
        rank: (rank, rule, size) for size in range(1, len(keyword) + 1) for rank, rule in own.get(keyword[:size], ())
    }
    names = max((size for _, rule, size in found.values() if rule.judge), default=0)
    return tuple(each for each in found.values() if not each[1].judge or each[2] == names)


def _hits(low: str) -> Iterator[tuple[int, str]]:
    """Where a keyword begins in a lowered text and which, the longest, in order; also inside another one."""
    found: dict[int, str] = {}
    for keyword in _own_rules():
        start = low.find(keyword)
        while start >= 0:
            found[start] = keyword
            start = low.find(keyword, start + 1)
    return iter(sorted(found.items()))


def placeholder(name: str) -> str:
    """What stands in the place of a secret of this kind."""
    return f"{_MARK}{name}]"


def _plain_spans(text: str, credit: int = _CREDIT) -> Iterator[Span]:
    """Every secret, overlapping ones too. The end of one counts as the beginning of a word, as it will once it is gone."""
    low = lowered(text)
    yield from block_spans(text, low)
    ends: set[int] = set()
    credit = max(_LEAST_CREDIT, min(credit, _CREDIT_CHAR * len(text)))
    effort = covered = 0
    has_marks = _MARK in text
    for start, keyword in _hits(low):
        mark = text.rfind(_MARK, max(0, start - _MARK_CHARS), start) if has_marks else -1
        if start < covered or (mark >= 0 and "]" not in text[mark:start]):
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
                found = rule.secret(start, read)
                if found and _MARK not in text[slice(*found)]:
                    ends.add(found[1])
                    effort += _FOUND
                    yield Span(*found, rank, rule.name)


def _decoded_spans(text: str) -> Iterator[Span]:
    """Those of a text that itself was encoded: it may hide one more coat, and no more."""
    yield from _plain_spans(text)
    yield from encoded_spans(text, _plain_spans)
    yield from escaped_spans(text, _plain_spans)


def _spans(text: str, credit: int = _CREDIT) -> Iterator[Span]:
    yield from _plain_spans(text, credit)
    yield from wrapped_spans(text, _plain_spans)
    for span in (*encoded_spans(text, _decoded_spans), *escaped_spans(text, _decoded_spans)):
        if _MARK not in text[span.start : span.end]:
            yield span


def _united(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, overlapping ones as one that bears the best-informed name."""
    united: list[Span] = []
    for span in sorted(spans):
        if united and span.start < united[-1].end:
            last = united.pop()
            rank, name = min((last.rank, last.name), (span.rank, span.name))
            united.append(Span(last.start, max(last.end, span.end), rank, name))
        else:
            united.append(span)
    return united


def _replaced(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += (text[position : span.start], placeholder(span.name))
        position = span.end
    return "".join((*parts, text[position:]))


def secret_spans(text: str) -> tuple[Span, ...]:
    """Where the secrets of `text` are, in order; no two overlap."""
    return tuple(_united(_spans(text)))


def plain_secret_spans(name: str) -> tuple[Span, ...]:
    """The same for a name or another piece of one line: encoded ones too, but no lines to be joined."""
    return tuple(_united((*_plain_spans(name), *encoded_spans(name, _plain_spans))))


def redact(text: str) -> Redacted:
    """`text` with every secret that is found replaced. Total and idempotent: a second pass finds nothing."""
    counts: Counter[str] = Counter()
    credit = _CREDIT
    while spans := _united(_spans(text, credit)):
        counts.update(span.name for span in spans)
        text = _replaced(text, spans)
        if counts[CROWDED]:
            credit = _LEAST_CREDIT
    return Redacted(text, tuple(sorted(counts.items())))


_ENDINGS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,3}(?![^\s/\\\"'`,;:)\]}>])")
"""`.tar.gz`, at the end of a name: a token in front of it is whole."""
_SEPARATOR = re.compile(r"[/\\]")
_WORD = re.compile(r"(?<![^\s\"'`])[^\s\"'`/\\=.]*+[/\\=.][^\s\"'`]*+")
"""What may be a path in a text: something with a separator, an assignment or an ending."""
_TELLS = re.compile(r"[/\\=][^\s/\\]*?(?:=|[\w+-]{20})|[\w+-]{20}\.[A-Za-z]|=.*\.[A-Za-z]")
"""What makes a part of it worth a look: an assignment, or what is long enough to be a token."""

_NAME_TELLS = re.compile(r"=[^=]{4}|[\w+-]{20}")
"""The same of one part."""
_NAME_CHARS = 1_000
"""No file has a longer name, and what is longer was looked at as text."""


def stored_line(text: str, max_chars: int = _UNBOUNDED_CHARS) -> str:
    """One clean line without secrets, at most `max_chars` characters."""
    return one_line(redact(one_line(text, _UNBOUNDED_CHARS)).text, max_chars)


def redact_path(path: str) -> str:
    """The path with every secret in it replaced, each of its parts and the name without its ending looked at by itself.

    Separators and endings stay. A part is `b` in `/a/b/c`, `a\\b\\c` and `fix/b`. Total and idempotent.
    """
    return _without_secrets_in_parts(redact(path).text)


def redact_with_paths(text: str) -> str:
    """A text such as a command, with the secrets in it and in the paths that it names replaced."""

    def redacted(word: re.Match[str]) -> str:
        return _without_secrets_in_parts(word[0]) if _TELLS.search(word[0]) else word[0]

    return _WORD.sub(redacted, redact(text).text)


def _without_secrets_in_parts(path: str) -> str:
    while found := tuple(_secrets_in_parts(path)):
        for start, end, name in reversed(found):
            path = f"{path[:start]}{placeholder(name)}{path[end:]}"
    return path


def _secrets_in_parts(path: str) -> Iterator[tuple[int, int, str]]:
    """Where the secrets of the parts are, in order."""
    start = 0
    for part in _SEPARATOR.split(path):
        if _NAME_TELLS.search(part) and len(part) <= _NAME_CHARS:
            for span in plain_secret_spans(_ENDINGS.sub("", part)):
                yield start + span.start, start + span.end, span.name
        start += len(part) + 1


def lowered(text: str) -> str:
    """`text` in lower case with every character at its old index (`İ` alone would become two)."""
    return text.replace("İ", "i").lower()
