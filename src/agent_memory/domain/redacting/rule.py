"""One rule of redaction, and the places that it finds."""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import frozen


def anything(_secret: str) -> bool:
    """True: the shape alone is proof."""
    return True


@frozen
class Rule:
    """A secret that announces itself by a keyword.

    Where one of `keywords` (lower case) occurs in the lowered text, `pattern` is matched `before` characters ahead of
    it. Its group `secret` (the whole match without such a group) is what is removed, if `accepts` says so.
    Patterns are linear: every repetition is bounded or possessive. One that looks at the character after its match
    must also be a `word`, so that removing one secret never lays bare an endless row of others.
    """

    name: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = anything
    word: bool = False
    """It counts only where no letter or digit stands before it."""
    before: int = 0


@frozen(order=True)
class Span:
    """`text[start:end]` is a secret of the kind `name`. A lower `rank` knows better what it is."""

    start: int
    end: int
    rank: int
    name: str
