"""A rule of redaction: what announces a secret, what it looks like, and how what was read is judged. The rules themselves are in
`rules.txt`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import cache
from pkgutil import get_data
from typing import NamedTuple

from attrs import frozen

from agent_memory.redaction.judges import JUDGES, Judge, Place, given_to
from agent_memory.redaction.values import check_of, words_of

_ESCAPED_SPACE = ("\\n", "\\t", "\\r")
"""As JSON writes white space: the letter belongs to no word."""
_COLOUR_END = re.compile(r"\x1b\[[\d;]{0,16}[mK]$|\\(?:u001b|x1b|033|e)\[[\d;]{0,16}[mK]$", re.IGNORECASE)
_COLOUR_CHARS = 24


@frozen
class Rule:
    """A secret that announces itself by a keyword.

    Where one of `keywords` (lower case) occurs in the lowered text, `expression` is matched: with `inside` at the keyword or
    `before` characters ahead of it; with `word` only where no letter or digit stands there; with `behind` right behind the
    keyword. With `whole` it is searched in the whole text, once, if a keyword occurs at all. `judge` says what of the match
    is removed.
    Expressions are linear: every repetition is bounded or possessive. One that reads far before it can fail matches
    without its `secret` instead, so that `match` tells how far it read. One that looks at the character after its match
    must also be a `word`, so that removing one secret never lays bare an endless row of others.
    """

    name: str
    keywords: tuple[str, ...]
    expression: str
    judge: Judge
    reads: str = "inside"
    before: int = 0

    def match(self, text: str, start: int, size: int, ends: Container[int] = ()) -> re.Match[str] | None:
        """Returns what the expression reads for the keyword of that size at `start`; at `ends` a word may begin too."""
        if self.reads == "behind":
            return compiled(self.expression).match(text, start + size)
        first = start - self.before
        if first < 0 or (self.reads == "word" and first not in ends and not _may_begin(text, first)):
            return None
        return compiled(self.expression).match(text, first)


def _may_begin(text: str, start: int) -> bool:
    """Returns whether a word may begin at `start`: after nothing, no letter or digit, an escaped space or a terminal
    colour."""
    if start == 0 or not text[start - 1].isalnum() or text[start - 2 : start] in _ESCAPED_SPACE:
        return True
    return text[start - 1] in "mK" and bool(_COLOUR_END.search(text[max(0, start - _COLOUR_CHARS) : start]))


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """Returns the expression, compiled when it is first needed: most rules never are, and all of them together take 80 ms."""
    return re.compile(expression)


class Span(NamedTuple):
    """`text[start:end]` is a secret of the kind `name`. A lower `rank` knows better what it is."""

    start: int
    end: int
    rank: int
    name: str


_COLUMN = re.compile(" {2,}")
_FRAGMENT = re.compile("«[a-z-]+»")
_ISSUED = ("varied", "digits≥2", "bits≥2.5", "no-placeholder")


def rules_of(table: str) -> tuple[Rule, ...]:
    """Returns the rules of a table that is written as `rules.txt` says."""
    fragments: dict[str, str] = {}
    rules: list[Rule] = []
    for line in table.splitlines():
        match _COLUMN.split(_FRAGMENT.sub(lambda part: fragments.get(part[0], part[0]), line)):
            case [cell, *_] if not cell or cell.startswith("#"):
                pass
            case [name, expression]:
                fragments[name] = expression
            case [name, spellings, shape]:
                named = f"(?i)(?:{'|'.join(map(re.escape, spellings.split()))}){fragments['«assigned»']}"
                expression = f"{named}(?P<secret>{shape}){fragments['«end»']}"
                rules.append(Rule(name, words_of(spellings), expression, _judge_of(_ISSUED)))
            case [name, how, keywords, expression, *tools]:
                reads, *flags = how.split(",")
                before = sum(int(flag) for flag in flags if flag.isdigit())
                judge = _judge_of([flag for flag in flags if not flag.isdigit()] or ["varied"], *tools)
                rules.append(Rule(name, words_of(keywords), expression, judge, reads, before))
            case _:
                raise ValueError(f"no rule: {line}")
    return tuple(rules)


def _judge_of(names: Sequence[str], tools: str = "") -> Judge:
    """Returns the judge of that name, or else that of a value by itself, which must pass all these checks: the group
    `secret`, or the whole match without such a group."""
    if names[0] in JUDGES:
        return JUDGES[names[0]]
    checks = tuple(map(check_of, names))

    def judge(_start: int, found: re.Match[str]) -> Iterable[Place]:
        first, end = found.span("secret" if "secret" in found.re.groupindex else 0)
        value = found.string[first:end]
        return ((first, end),) if first >= 0 and all(check(value) for check in checks) else ()

    return given_to(tools, judge) if tools else judge


_TABLE = get_data("agent_memory.redaction", "rules.txt")
assert _TABLE
RULES = rules_of(_TABLE.decode())
