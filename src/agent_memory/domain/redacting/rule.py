"""One rule of redaction, and the places that it finds."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Container
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from attrs import frozen

_ESCAPED_SPACE = ("\\n", "\\t", "\\r")
"""As JSON writes white space: the letter belongs to no word."""
_COLOUR_END = re.compile(r"\x1b\[[\d;]{0,16}[mK]$|\\(?:u001b|x1b|033|e)\[[\d;]{0,16}[mK]$", re.IGNORECASE)
_COLOUR_CHARS = 24


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text; a space in one is written `·`."""
    return tuple(word.replace("·", " ") for word in text.split())


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


_STAND_INS = words_of(
    "example ex-ample sample placeholder place-holder changeme change-me change_me changeit change-it change_it _your dummy "
    "redacted censored insert replace xxxx *** ... … •• foobar foo-bar undefined"
)
"""What no secret holds, in lower case."""
_NUMBERED = frozenset(("test", "testing", "pwd", "pword", "passwd", "password"))
"""What protects nothing, with or without a number: `test2`."""
_DEFAULTS = _NUMBERED | frozenset(
    words_of(
        "none null true false string required optional hidden value empty default pass passphrase secret token credential "
        "credentials user username admin root guest postgres mysql redis mongo rabbitmq minio minioadmin letmein qwerty"
    )
)
_MARKED = ("your", "fake", "todo", "lorem", "my", "here")
_MARK = re.compile(
    r"\b(?:your|fake|todo|lorem|my[-_ ]?(?:secret|token|pass|api|key)(?!\w*\d[^\w-]))|(?:goes|token|key|secret|password)[-_ ]?here"
)
_REFERENCE_PARTS = words_of(
    r"${ $( {{ }} %( #{ => :// \w \d \s \b \. secretKeyRef process.env os.environ getenv secrets. vars. var. self. this. config."
)
_REFERENCE_BEGINNING = re.compile(
    r"\$\w+\Z|\$\d|<|%\w+%\Z|@\w+@\Z|\{|&\w|!\w+\s|#[a-z-]+\Z|[\w.]+\(.*\)\Z|\.{0,2}/[\w.]|~/|[A-Za-z]:\\|\[|[*.]+\Z|\^|arn:"
)
_INDEX_OR_TAG = re.compile(r"\w\[|<[^<>]*>")
_SEQUENCES = ("abcdefgh", "12345678", "qwertyui", "01234567", "87654321")
_ROWS = ("abcdefghijklmnopqrstuvwxyz0123456789", "01234567890", "qwertyuiop", "9876543210")
_NEIGHBOURS = frozenset(f"{before}{after}" for row in _ROWS for before, after in pairwise(row))
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_LONG_RUN = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
_DIGIT_GROUP = re.compile(r"\d+")
_FILE_NAME = re.compile(r"[\w./-]*\.(?:[a-z]{1,4}\d?|json[lc]?|yaml|toml|html|conf|crt|cert)(?::\d+)?")
_CHECKED_CHARS = 160
"""How much of a long value is searched for signs of a placeholder or reference."""

_SIGNS = frozenset("!@#$%^&*+=~?")
_CODE = re.compile(r"[(\[{]|[)\]}][^.,;:)\]}]|[=!<>]=|[-=]>|::|&&|\|\||^[@:]\w+$|^[\w.@-]+(?:/[\w.@*-]+)+/?$")
"""What a statement holds, a parameter is written with, or a path."""
_SYMBOLS = frozenset("!@#$%^&*+=~?|/:;,<>()[]{}")


def entropy_bits(text: str) -> float:
    """Shannon entropy of its characters, in bits a character; 0 for the empty text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def digits_in(text: str) -> int:
    """How many of its characters are ASCII digits."""
    return sum(map(text.count, "0123456789"))


def is_placeholder(value: str) -> bool:
    """A stand-in that documentation uses, or a default that protects nothing."""
    start = value[:_CHECKED_CHARS].lower()
    if start in _DEFAULTS or start.rstrip("0123456789") in _NUMBERED or not start.strip("-_.="):
        return True
    if any(map(start.__contains__, _STAND_INS)):
        return True
    # A run such as `12345678` makes up a good part of the value.
    if any(map(start.__contains__, _SEQUENCES)) and _longest_run(start) * 3 >= len(start):
        return True
    return any(map(start.__contains__, _MARKED)) and bool(_MARK.search(start))


def _longest_run(value: str) -> int:
    """The length of the longest stretch in which each character is the next one, or a neighbour on the keyboard's rows."""
    longest = here = 1
    for before, after in pairwise(value):
        here = here + 1 if f"{before}{after}" in _NEIGHBOURS else 1
        longest = max(longest, here)
    return longest


def is_reference(value: str) -> bool:
    """Code or a template that fetches the secret from elsewhere."""
    start = value[:_CHECKED_CHARS]
    if (
        start.endswith((">", "("))
        or any(map(start.__contains__, _REFERENCE_PARTS))
        or _REFERENCE_BEGINNING.match(start)
    ):
        return True
    return ("[" in start or "<" in start) and bool(_INDEX_OR_TAG.search(start))


def is_uuid(value: str) -> bool:
    return bool(_UUID.fullmatch(value))


def is_hex(value: str) -> bool:
    return bool(_HEX.fullmatch(value))


def worded_share(value: str) -> float:
    """The share of its letters that stand in runs such as words and camel humps make, 0..1."""
    letters = sum(map(str.isalpha, value))
    return sum(len(run) for run in _WORD.findall(value)) / letters if letters else 0.0


def varied(secret: str) -> bool:
    """No mask such as `xxxx` or `0000`: at least 2.8 bits a character (short ones: 2)."""
    return entropy_bits(secret) >= (2.8 if len(secret) >= 16 else 2.0) and "xxxxx" not in secret.lower()


def tokenlike(secret: str) -> bool:
    """Varied, with several digits, and not made of words."""
    return varied(secret) and digits_in(secret) >= 3 and worded_share(secret) < 0.75


def is_drawn(piece: str) -> bool:
    """No part of a sentence, of an item or of a statement: digits among letters, most of which are in no word."""
    if digits_in(piece) == 0 or piece.isdigit():
        return False
    letters = sum(map(str.isalpha, piece))
    return sum(map(len, _LONG_RUN.findall(piece))) <= 0.6 * letters


def _kinds_of_characters(value: str) -> int:
    kinds = any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value))
    return sum(kinds) + (not _SYMBOLS.isdisjoint(value))


def is_password(value: str) -> bool:
    """A literal of 6 to 200 characters that mixes kinds of characters as passwords do."""
    if not 6 <= len(value) <= 200 or len(set(value)) < 5 or value.endswith(":") or any(map(str.isspace, value)):
        return False
    mixed = not _SYMBOLS.isdisjoint(value) or any(map(str.isdigit, value))
    if not mixed or _kinds_of_characters(value) < 2:
        return False
    return not (is_placeholder(value) or is_reference(value) or _FILE_NAME.fullmatch(value))


def is_plain_password(value: str) -> bool:
    """A literal of 8 to 40 letters: trusted only between quotes, right behind the name `password`."""
    return 8 <= len(value) <= 40 and value.isalpha() and len(set(value)) >= 4 and not is_placeholder(value)


def is_unquoted_password(value: str) -> bool:
    """Like `is_password`, for a place where the value may also be code or prose: of words, only with digits and a sign."""
    if not is_password(value) or _CODE.search(value.rstrip("=")) or _looks_like_code(value):
        return False
    return worded_share(value) < 0.9 or (digits_in(value) > 0 and not _SIGNS.isdisjoint(value))


def is_strong_password(value: str) -> bool:
    """A password that no sentence and no identifier looks like: 12 characters or more, letters, digits and symbols."""
    return len(value) >= 12 and _is_much_mixed(value)


def is_unquoted_strong_password(value: str) -> bool:
    """Like `is_strong_password` from 8 characters on, with one of the signs that neither names nor code have."""
    return len(value) >= 8 and not _SIGNS.isdisjoint(value) and _is_much_mixed(value)


def _is_much_mixed(value: str) -> bool:
    return digits_in(value) > 0 and _kinds_of_characters(value) >= 3 and is_unquoted_password(value)


def is_environment_value(value: str) -> bool:
    """For `NAME=value` with a name that says secret: any literal that is no placeholder."""
    if len(value) < 6 or value.isdigit() or is_placeholder(value) or is_reference(value):
        return False
    return len(set(value)) >= 4 and not _FILE_NAME.fullmatch(value)


def is_key(value: str) -> bool:
    """A literal of at least 16 characters that was drawn at random."""
    if len(value) < 16 or digits_in(value) < 2 or any(map(str.isspace, value)):
        return False
    value = value[:_CHECKED_CHARS]
    if is_placeholder(value) or is_reference(value) or _FILE_NAME.fullmatch(value):
        return False
    if is_uuid(value):
        return True
    if entropy_bits(value) < (2.9 if is_hex(value) else 3.3):
        return False
    # Letters and digits of one case without a break, long or much mixed: no identifier is written so.
    is_one_run = value.isalnum() and (value.islower() or value.isupper())
    if is_one_run and (len(value) >= 32 or len(_DIGIT_GROUP.findall(value)) >= 3):
        return True
    return (worded_share(value) < 0.7 or is_drawn(value)) and not _looks_like_code(value)


def _looks_like_code(value: str) -> bool:
    """A dotted or arrowed path of identifiers (`response.data.token2`), a comparison, a type."""
    parts = re.split(r"\.|->|::|\?\.", value)
    return len(parts) > 1 and all(part.isidentifier() and worded_share(part) > 0.5 for part in parts if part)
