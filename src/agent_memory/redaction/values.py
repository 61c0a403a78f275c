"""What tells a secret from a placeholder, a reference, a word or code, and the checks that rules name."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

from agent_memory.text.tables import read_table

Check = Callable[[str], bool]


def words_of(*texts: str) -> tuple[str, ...]:
    """Returns the words of texts; a space in one is written `·`, a new line `¶`."""
    return tuple(word.replace("·", " ").replace("¶", "\n") for word in " ".join(texts).split())


TABLE = read_table("agent_memory.redaction", "words.txt")
_STAND_INS = words_of(*TABLE.lines["stand-ins"])
_NUMBERED = TABLE.words("numbered")
_DEFAULTS = _NUMBERED | TABLE.words("defaults")
_MARK = re.compile(
    r"\b(?:your|fake|todo|lorem|my[-_ ]?(?:secret|token|pass|api|key)(?!\w*\d[^\w-]))|(?:goes|token|key|secret|password)[-_ ]?here"
)
_REFERENCE_PARTS = words_of(*TABLE.lines["references"])
_REFERENCE_BEGINNING = re.compile(
    r"\$\w+\Z|\$\d|<|%\w+%\Z|@\w+@\Z|\{|&\w|!\w+\s|#[a-z-]+\Z|[\w.]+\(.*\)\Z|\.{0,2}/[\w.]|~/|[A-Za-z]:\\|\[|[*.]+\Z|\^|arn:"
    r"|id__\w{6}\Z"  # a note: in a list of ids one in ten thousand holds `pwd`, and names the next
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
_NUMBERED_WORD = re.compile(r"[^\W\d_]{4,}\d{2,}")
_FILE_NAME = re.compile(r"[\w./-]*\.(?:[a-z]{1,4}\d?|json[lc]?|yaml|toml|html|conf|crt|cert)(?::\d+)?")
_SIGNS = frozenset("!@#$%^&*+=~?")
_SYMBOLS = _SIGNS | frozenset("|/:;,<>()[]{}")
_CODE = re.compile(r"[(\[{]|[)\]}][^.,;:)\]}]|[=!<>]=|[-=]>|::|&&|\|\||^[@:]\w+$|^[\w.@-]+(?:/[\w.@*-]+)+/?$")
"""Signs of a statement, a parameter or a path."""
_DRAWN = re.compile(r"[\w+/=.~%:-]{20,600}")
_SAID_OF_PASSWORDS = TABLE.words("said of passwords")
_SENTENCE_WORDS = TABLE.words("sentence")
_CHECKED_CHARS = 160
"""How much of a long value is searched for signs of a placeholder or reference."""
_SHORTEST_KEY_CHARS = 8


# -- facts about a value ----------------------------------------------------------------------------------------------


def entropy_bits(text: str) -> float:
    """Returns the Shannon entropy of its characters, in bits a character; 0 for the empty text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def digits_in(text: str) -> int:
    """Returns how many of its characters are ASCII digits."""
    return sum(map(text.count, "0123456789"))


def worded_share(value: str) -> float:
    """Returns the share of its letters that stand in runs such as words and camel humps make, 0..1."""
    letters = sum(map(str.isalpha, value))
    return sum(len(run) for run in _WORD.findall(value)) / letters if letters else 0.0


def varied(secret: str) -> bool:
    """Returns whether a value is no mask such as `xxxx` or `0000`: at least 2.8 bits a character (short ones: 2)."""
    return entropy_bits(secret) >= (2.8 if len(secret) >= 16 else 2.0) and "xxxxx" not in secret.lower()


def is_drawn(piece: str) -> bool:
    """Returns whether a value is no part of a sentence, an item or a statement: digits among letters, most of which are in no word."""
    if digits_in(piece) == 0 or piece.isdigit():
        return False
    letters = sum(map(str.isalpha, piece))
    return sum(map(len, _LONG_RUN.findall(piece))) <= 0.6 * letters


def is_placeholder(value: str) -> bool:
    """Returns whether a value is a stand-in of documentation, or a default that protects nothing."""
    start = value[:_CHECKED_CHARS].lower()
    if start in _DEFAULTS or start.rstrip("0123456789") in _NUMBERED or not start.strip("-_.="):
        return True
    if any(map(start.__contains__, _STAND_INS)):
        return True
    # A run such as `12345678` makes up a good part of the value.
    if any(map(start.__contains__, _SEQUENCES)) and _longest_run(start) * 3 >= len(start):
        return True
    return _MARK.search(start) is not None


def _longest_run(value: str) -> int:
    """Returns the length of the longest stretch in which each character is the next one, or a neighbour on the
    keyboard's rows."""
    longest = here = 1
    for before, after in pairwise(value):
        here = here + 1 if f"{before}{after}" in _NEIGHBOURS else 1
        longest = max(longest, here)
    return longest


def is_reference(value: str) -> bool:
    """Returns whether a value is code or a template that fetches the secret from elsewhere."""
    start = value[:_CHECKED_CHARS]
    return bool(
        start.endswith((">", "("))
        or any(map(start.__contains__, _REFERENCE_PARTS))
        or _REFERENCE_BEGINNING.match(start)
        or _INDEX_OR_TAG.search(start)
    )


def is_literal(value: str) -> bool:
    """Returns whether a value is neither a placeholder nor a reference."""
    return not (is_placeholder(value) or is_reference(value))


def _kinds_of_characters(value: str) -> int:
    kinds = any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value))
    return sum(kinds) + (not _SYMBOLS.isdisjoint(value))


def _looks_like_code(value: str) -> bool:
    """Returns whether a value is a dotted or arrowed path of identifiers (`response.data.token2`)."""
    parts = re.split(r"\.|->|::|\?\.", value)
    return len(parts) > 1 and all(part.isidentifier() and worded_share(part) > 0.5 for part in parts if part)


# -- passwords and keys -----------------------------------------------------------------------------------------------


def is_password(value: str) -> bool:
    """Returns whether a value is a literal of 6 to 200 characters that mixes kinds of characters as passwords do."""
    if not 6 <= len(value) <= 200 or len(set(value)) < 5 or value.endswith(":") or any(map(str.isspace, value)):
        return False
    mixed = not _SYMBOLS.isdisjoint(value) or any(map(str.isdigit, value))
    return mixed and _kinds_of_characters(value) >= 2 and is_literal(value) and not _FILE_NAME.fullmatch(value)


def is_unquoted_password(value: str) -> bool:
    """Judges like `is_password`, for a place where the value may also be code or prose: of words, only with digits and a
    sign, or as a word with two digits or more behind it."""
    if not is_password(value) or _CODE.search(value.rstrip("=")) or _looks_like_code(value):
        return False
    is_numbered = len(value) >= _SHORTEST_KEY_CHARS and _NUMBERED_WORD.fullmatch(value) is not None
    return is_numbered or worded_share(value) < 0.9 or (digits_in(value) > 0 and not _SIGNS.isdisjoint(value))


def is_strong_password(value: str) -> bool:
    """Returns whether no sentence and no identifier looks like this: 12 characters or more, letters, digits and symbols."""
    return len(value) >= 12 and _is_much_mixed(value)


def is_unquoted_strong_password(value: str) -> bool:
    """Judges like `is_strong_password` from 8 characters on, with one of the signs that neither names nor code have."""
    return len(value) >= 8 and not _SIGNS.isdisjoint(value) and _is_much_mixed(value)


def _is_much_mixed(value: str) -> bool:
    return digits_in(value) > 0 and _kinds_of_characters(value) >= 3 and is_unquoted_password(value)


def is_plain_password(value: str) -> bool:
    """Returns whether a value is a literal of 8 to 40 letters: trusted only between quotes, right behind the name `password`."""
    return 8 <= len(value) <= 40 and value.isalpha() and len(set(value)) >= 4 and not is_placeholder(value)


def is_said_password(value: str) -> bool:
    """Returns whether a value between quotes in a sentence is a password, and nothing that is said of passwords."""
    if is_placeholder(value) or value.lower() in _SAID_OF_PASSWORDS:
        return False
    return is_password(value) or (value.isalpha() and 7 <= len(value) <= 40)


def is_environment_value(value: str) -> bool:
    """Returns whether a value is a literal and no placeholder: for `NAME=value` with a name that says secret."""
    if len(value) < 6 or value.isdigit() or len(set(value)) < 4:
        return False
    return is_literal(value) and not _FILE_NAME.fullmatch(value)


def is_key(value: str) -> bool:
    """Returns whether a value is a literal of at least 16 characters that was drawn at random."""
    if len(value) < 16 or digits_in(value) < 2 or any(map(str.isspace, value)):
        return False
    value = value[:_CHECKED_CHARS]
    if not is_literal(value) or _FILE_NAME.fullmatch(value):
        return False
    if _UUID.fullmatch(value):
        return True
    if entropy_bits(value) < (2.9 if _HEX.fullmatch(value) else 3.3):
        return False
    # Letters and digits of one case without a break, long or much mixed: no identifier is written so.
    is_one_run = value.isalnum() and (value.islower() or value.isupper())
    if is_one_run and (len(value) >= 32 or len(_DIGIT_GROUP.findall(value)) >= 3):
        return True
    return (worded_share(value) < 0.7 or is_drawn(value)) and not _looks_like_code(value)


def is_drawn_key(value: str) -> bool:
    """Returns whether a value is a key, and nothing that names contents: no hash, UUID, path or sum with its algorithm."""
    lone = value.rstrip(".:")
    if not _DRAWN.fullmatch(lone) or _HEX.fullmatch(lone) or _UUID.fullmatch(lone):
        return False
    return digits_in(lone) >= 3 and lone.count("/") <= 3 and not lone.startswith("sha") and is_key(lone)


# -- the checks that rules name -----------------------------------------------------------------------------------------


def _has_digits_or_no_words(value: str) -> bool:
    return digits_in(value) > 0 or worded_share(value) < 0.5


def _bearer(value: str) -> bool:
    """Returns whether a value has digits, or else letters in an order that no word has."""
    return digits_in(value) >= 2 or (len(value) >= 20 and worded_share(value) < 0.5 and not value.islower())


def _cookies(value: str) -> bool:
    """Returns whether any of the cookies holds something drawn at random."""
    values = (cookie.partition("=")[2].strip() for cookie in value.split(";"))
    return any(
        len(each) >= 12
        and varied(each)
        and digits_in(each) >= 3
        and worded_share(each) < 0.5
        and not is_reference(each)
        for each in values
    )


def _seed_words(phrase: str) -> bool:
    """Returns whether these are words as wallets draw them: hardly one twice, and none that holds a sentence together."""
    words = phrase.replace(",", " ").split()
    return len(set(words)) >= len(words) - 2 and _SENTENCE_WORDS.isdisjoint(words)


def _user_in_base64(value: str) -> bool:
    """Returns whether a value is base64 of `user:password`, as docker keeps it."""
    try:
        return b":" in base64.b64decode(value)
    except binascii.Error:
        return False


def _user_and_password(value: str) -> bool:
    user, colon, password = value.strip("\"'").partition(":")
    lone = (password or user).strip("\"'")
    if not colon or is_reference(value) or is_placeholder(lone):
        return False
    if not password:  # a key in the place of the user, as some services have it; else the name of one
        return len(lone) >= _SHORTEST_KEY_CHARS and not (lone.isalpha() or lone.isdigit())
    return user != password and len(lone) >= 3 and not lone.isdigit()


def _in_both_cases(secret: str) -> bool:
    drawn = secret.removeprefix("s.")
    return varied(drawn) and digits_in(drawn) > 0 and not drawn.isupper() and not drawn.islower()


_CHECKS: Mapping[str, Check] = {
    "any": lambda _: True,  # the shape alone is proof
    "varied": varied,
    "drawn": is_drawn,
    "literal": is_literal,
    "no-placeholder": lambda value: not is_placeholder(value),
    "no-reference": lambda value: not is_reference(value),
    "no-number": lambda value: not value.isdigit(),
    "no-example": lambda value: not value.endswith("EXAMPLE"),
    "digits-or-no-words": _has_digits_or_no_words,
    "both-cases": _in_both_cases,
    "pem": lambda value: b"PRIVATE KEY" in base64.b64decode(value[:64]),  # else it is that of a certificate
    "seed": _seed_words,
    "key": is_key,
    "keys": lambda words: any(is_key(word.strip("{}()[]\"',;")) for word in words.split()),
    "password": is_password,
    "any-password": lambda value: len(value) >= 3 and len(set(value)) >= 3 and is_literal(value),
    "user-in-base64": _user_in_base64,
    "user-and-password": _user_and_password,
    "bearer": _bearer,
    "cookies": _cookies,
}
_MEASURES: Mapping[str, Callable[[str], float]] = {"digits": digits_in, "words": worded_share, "bits": entropy_bits}
_MEASURED = re.compile(r"(\w+)([<≥])([\d.]+)")


def check_of(name: str) -> Check:
    """Returns the check of that name, or one that compares a measure, such as `digits≥3` or `words<0.75`."""
    if not (measured := _MEASURED.fullmatch(name)):
        return _CHECKS[name]
    measure, limit = _MEASURES[measured[1]], float(measured[3])
    return (lambda value: measure(value) < limit) if measured[2] == "<" else (lambda value: measure(value) >= limit)
