"""One rule of redaction, and the places that it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import cache
from typing import NamedTuple

from attrs import frozen

from agent_memory.domain.redacting.plausible import varied

_ESCAPED_SPACE = ("\\n", "\\t", "\\r")
"""As JSON writes white space: the letter belongs to no word."""
_COLOUR_END = re.compile(r"\x1b\[[\d;]{0,16}[mK]$|\\(?:u001b|x1b|033|e)\[[\d;]{0,16}[mK]$", re.IGNORECASE)
_COLOUR_CHARS = 24


def anything(_secret: str) -> bool:
    """True: the shape alone is proof."""
    return True


@frozen
class Rule:
    """A secret that announces itself by a keyword.

    Where one of `keywords` (lower case) occurs in the lowered text, `expression` is matched `before` characters ahead of
    it, or with `judge` right behind it. Its group `secret` (the whole match without such a group) is what is removed, if
    `accepts` says so; with `judge` it is what `judge` makes of the keyword's start and the match.
    Expressions are linear: every repetition is bounded or possessive. One that reads far before it can fail matches
    without its `secret` instead, so that `match` tells how far it read. One that looks at the character after its match
    must also be a `word`, so that removing one secret never lays bare an endless row of others.
    """

    name: str
    keywords: tuple[str, ...]
    expression: str
    accepts: Callable[[str], bool] = anything
    word: bool = False
    """It counts only where no letter or digit stands before it."""
    before: int = 0
    judge: Callable[[int, re.Match[str]], tuple[int, int] | None] | None = None

    def match(self, text: str, start: int, size: int, ends: Container[int] = ()) -> re.Match[str] | None:
        """What the expression reads for the keyword at `start`; at `ends` a word may begin too."""
        first = start - self.before
        if first < 0 or (self.word and first not in ends and not _may_begin(text, first)):
            return None
        return _compiled(self.expression).match(text, start + size if self.judge else first)

    def secret(self, start: int, found: re.Match[str]) -> tuple[int, int] | None:
        """Where the secret lies in what `match` found for the keyword at `start`."""
        if self.judge:
            return self.judge(start, found)
        first, end = found.span("secret" if "secret" in found.re.groupindex else 0)
        return (first, end) if first >= 0 and self.accepts(found.string[first:end]) else None


def _may_begin(text: str, start: int) -> bool:
    """Whether a word may begin at `start`: after nothing, no letter or digit, an escaped space or a terminal colour."""
    if start == 0 or not text[start - 1].isalnum() or text[start - 2 : start] in _ESCAPED_SPACE:
        return True
    return text[start - 1] in "mK" and bool(_COLOUR_END.search(text[max(0, start - _COLOUR_CHARS) : start]))


def marked(name: str, keywords: str, pattern: str) -> Rule:
    """The rule for a secret whose own beginning tells its issuer, wherever it stands; masks are left."""
    return Rule(name, tuple(keywords.split()), pattern, varied)


def marked_word(name: str, keywords: str, pattern: str) -> Rule:
    """Like `marked`, where the beginning might also be the end of another word."""
    return Rule(name, tuple(keywords.split()), pattern, varied, word=True)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled when it is first needed: most rules never are, and all of them together take 80 ms."""
    return re.compile(expression)


class Span(NamedTuple):
    """`text[start:end]` is a secret of the kind `name`. A lower `rank` knows better what it is."""

    start: int
    end: int
    rank: int
    name: str
