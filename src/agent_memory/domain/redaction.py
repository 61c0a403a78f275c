"""Redaction: what looks like a secret is replaced by its kind, before it reaches a prompt, a disk or git (P20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from attrs import frozen

from agent_memory.domain.redacting.addresses import ADDRESSES
from agent_memory.domain.redacting.assignments import ASSIGNMENTS
from agent_memory.domain.redacting.blocks import block_spans
from agent_memory.domain.redacting.headers import HEADERS
from agent_memory.domain.redacting.keyword_search import keyword_pattern, lowered
from agent_memory.domain.redacting.rule import Rule, Span
from agent_memory.domain.redacting.tokens import TOKENS
from agent_memory.domain.redacting.vendors import VENDORS

RULES: tuple[Rule, ...] = (*TOKENS, *ADDRESSES, *VENDORS, *HEADERS, *ASSIGNMENTS)
"""Best-informed first: where two find the same secret, the earlier one names it."""

_MARK = "[redacted:"


@frozen
class Redacted:
    """A text without the secrets that were found in it."""

    text: str
    """Each secret is now `[redacted:<name>]`."""
    found: tuple[tuple[str, int], ...] = ()
    """How many secrets of each name, by name; empty when the text is unchanged."""


def _rules_by_keyword() -> dict[str, tuple[tuple[int, Rule], ...]]:
    """For each keyword the rules of it and of every keyword that it begins with, since a search reports the longest."""
    keywords = {keyword for rule in RULES for keyword in rule.keywords}
    return {
        keyword: tuple(
            (rank, rule) for rank, rule in enumerate(RULES) if any(keyword.startswith(own) for own in rule.keywords)
        )
        for keyword in keywords
    }


_BY_KEYWORD = _rules_by_keyword()
_KEYWORDS = keyword_pattern(_BY_KEYWORD)


def placeholder(name: str) -> str:
    """What stands in the place of a secret of this kind."""
    return f"{_MARK}{name}]"


def _spans(text: str) -> Iterator[Span]:
    low = lowered(text)
    yield from block_spans(text, low)
    for hit in _KEYWORDS.finditer(low):
        for rank, rule in _BY_KEYWORD[hit.group(1)]:
            start = hit.start() - rule.before
            if start < 0 or (rule.word and start > 0 and text[start - 1].isalnum()):
                continue
            found = rule.pattern.match(text, start)
            if found:
                group = "secret" if "secret" in rule.pattern.groupindex else 0
                secret = found.group(group)
                if _MARK not in secret and rule.accepts(secret):
                    yield Span(found.start(group), found.end(group), rank, rule.name)


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


def redact(text: str) -> Redacted:
    """`text` with every secret that is found replaced. Total and idempotent: a second pass finds nothing."""
    counts: Counter[str] = Counter()
    while spans := _united(_spans(text)):
        counts.update(span.name for span in spans)
        text = _replaced(text, spans)
    return Redacted(text, tuple(sorted(counts.items())))
