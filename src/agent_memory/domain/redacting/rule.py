"""One rule of redaction, and the places that it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import cache

from attrs import frozen


def anything(_secret: str) -> bool:
    """True: the shape alone is proof."""
    return True


@frozen
class Rule:
    """A secret that announces itself by a keyword.

    Where one of `keywords` (lower case) occurs in the lowered text, `expression` is matched `before` characters ahead of
    it. Its group `secret` (the whole match without such a group) is what is removed, if `accepts` says so.
    Expressions are linear: every repetition is bounded or possessive. One that looks at the character after its match
    must also be a `word`, so that removing one secret never lays bare an endless row of others.
    """

    name: str
    keywords: tuple[str, ...]
    expression: str
    accepts: Callable[[str], bool] = anything
    word: bool = False
    """It counts only where no letter or digit stands before it."""
    before: int = 0

    def find(self, text: str, keyword_start: int, ends: Container[int] = ()) -> tuple[int, int] | None:
        """Where the secret lies that the keyword at `keyword_start` announces; at `ends` a word may begin too."""
        start = keyword_start - self.before
        if start < 0 or (self.word and start > 0 and text[start - 1].isalnum() and start not in ends):
            return None
        found = _compiled(self.expression).match(text, start)
        if not found:
            return None
        secret = found.span("secret" if "secret" in found.re.groupindex else 0)
        return secret if self.accepts(text[slice(*secret)]) else None


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled when it is first needed: most rules never are, and all of them together take 80 ms."""
    return re.compile(expression)


@frozen(order=True)
class Span:
    """`text[start:end]` is a secret of the kind `name`. A lower `rank` knows better what it is."""

    start: int
    end: int
    rank: int
    name: str
