"""Ids of notes, tags, and file names made from text that comes from outside (P21)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable
from itertools import count
from typing import Annotated, TypeAlias

from agent_memory.text.plain_text import clean_text, cut_chars
from agent_memory.text.value_rules import shown

# -- tags -------------------------------------------------------------------------------------------------------------
# Tags: a prefix, two underscores, a slug (`topic__xstate`, `area__front-end`). A slug is safe in any path and shell word (P21).


MAX_TAG_CHARS = 64
DEFAULT_PREFIX = "topic"

_NORMAL = re.compile(r"[a-z][a-z0-9]*(?<!id)__[a-z0-9]+(?:[-.+#][a-z0-9]+)*", re.ASCII)
# Compiled where they are used: few commands need them.
_PREFIXED = r"(?s)([A-Za-z][A-Za-z0-9]*)__(.*)"
_HASHED = r"(?<![^\s(,;])#([^\W\d_][\w-]*)(?![\w#(<])"
_COLOUR = r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}"
_CODE = r"(?ms)^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`"
_SELECTORS = "\ufe0e\ufe0f"
_BETWEEN_TAGS = r"[\s,]+"
_REPEATS = r"-{2,}|\.{2,}"


def normal_tag(text: str) -> str | None:
    """Returns the tag that a person or a model meant by `text`, or None if no tag can be made of it.

    Lower case, NFC; a slug holds letters, digits and their marks of any script, and `- . + #`; anything else becomes
    `-`. The default prefix is `topic__`. Tags are cut at `MAX_TAG_CHARS`. A normal tag is returned unchanged.
    """
    if len(text) <= MAX_TAG_CHARS and _NORMAL.fullmatch(text):
        return text
    cleaned = clean_text(text.strip())
    prefixed = re.fullmatch(_PREFIXED, cleaned)
    # `id__…` and `grid__…` could read as a note's id in a file name.
    if prefixed and not prefixed[1].lower().endswith("id"):
        prefix, rest = prefixed[1].lower(), prefixed[2]
    else:
        prefix, rest = DEFAULT_PREFIX, cleaned
    slug = _slug(cut_chars(_slug(rest), MAX_TAG_CHARS - len(prefix) - 2))
    return f"{prefix}__{slug}" if slug else None


def normal_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the normal tags among `texts`, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys([tag for tag in map(normal_tag, texts) if tag is not None]))


def tags_in(text: str) -> tuple[str, ...]:
    """Returns the normal tags that a text names as `#word` outside code, but not numbers, colours or parts of
    addresses."""
    words = re.findall(_HASHED, re.sub(_CODE, " ", text))
    return normal_tags(word for word in words if not re.fullmatch(_COLOUR, word))


def split_tags(text: str) -> tuple[str, ...]:
    """Returns the words of a list separated by commas or white space, unchanged."""
    return tuple(word for word in re.split(_BETWEEN_TAGS, text) if word)


def _slug(text: str) -> str:
    kept = ""
    for character in unicodedata.normalize("NFC", text.lower()):
        category = unicodedata.category(character)
        if category in ("Mn", "Mc"):  # a vowel sign or an accent belongs to a letter; alone it would sit on the prefix
            continues = kept[-1:] not in ("", "-") and character not in _SELECTORS
        else:
            continues = character in "-.+#" or category[0] in "LN"
        kept += character if continues else "-"
    slug = re.sub(_REPEATS, lambda run: run[0][0], kept).rstrip("-.").lstrip("-#+")
    return slug if any(character.isalnum() for character in slug) else ""


# -- ids --------------------------------------------------------------------------------------------------------------
# Ids of notes: `id__` and six base58 digits, minted from title and creation time, never changed afterwards.


ID_PATTERN = r"id__[1-9A-HJ-NP-Za-km-z]{6}"
"""An id, as a regular expression without groups or anchors (Bitcoin's base58 alphabet: no `0 O I l`)."""

_DIGITS = 6
_ID = re.compile(ID_PATTERN)


def is_id(text: str) -> bool:
    """Returns whether the whole text is an id."""
    return _ID.fullmatch(text) is not None


def entry_id_problem(value: object) -> str | None:
    """Returns what is wrong with a value that should be an id."""
    return None if isinstance(value, str) and is_id(value) else f"is {shown(value)}, expected an id like id__a1b2c3"


EntryId: TypeAlias = Annotated[str, entry_id_problem]


def mint_id(title: str, created_at_ms: int, taken: Container[str]) -> str:
    """Returns the first free id for a title and a time, the same on every machine. `taken` holds casefolded ids: live
    ones, aliases and archived ones. The digits are those of `int(sha256(NFC(title) "\\n" created_at_ms "\\n" n)) %
    58**6` for n = 0, 1, …, padded with `1`: the remainder, because the first characters of the number are skewed."""
    seed = f"{unicodedata.normalize('NFC', title)}\n{created_at_ms}\n"
    return next(id for id in (_id_of(f"{seed}{n}") for n in count()) if id.casefold() not in taken)


def _id_of(text: str) -> str:
    # "surrogatepass" so that it never fails: a title from another program may hold what UTF-8 cannot.
    import base58  # loads OpenSSL: hardly any command mints an id

    number = int(content_hash(text.encode("utf-8", "surrogatepass")), 16)
    return "id__" + base58.b58encode_int(number % 58**_DIGITS).decode("ascii").rjust(_DIGITS, "1")


class IdSet:
    """A set of ids of any length that keeps only their hashes, some 70 bytes each."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, id: str) -> bool:
        """Adds an id; returns whether it is new."""
        before = len(self._hashes)
        self._hashes.add(hash(id))
        return len(self._hashes) > before

    def __contains__(self, id: str) -> bool:
        return hash(id) in self._hashes

    def __len__(self) -> int:
        return len(self._hashes)


# -- slugs ------------------------------------------------------------------------------------------------------------
# File names made from text that comes from outside (P21).


_SAFE = re.compile(r"(?:T-)?[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
_READABLE_CHARS = 80
_UNSAFE_RUN = r"[^A-Za-z0-9._-]+"


def slug_of(text: str) -> str:
    """Returns a file name (without extension) for any text: 1 to 113 ASCII letters, digits, `.`, `_`, `-`, no leading
    dot.

    A text that is already safe, as most session ids are, is returned unchanged. Any other gets a hash of the whole
    text, so that two different texts never share a name, even on a file system that ignores case.
    """
    if _SAFE.fullmatch(text):
        return text
    readable = re.sub(_UNSAFE_RUN, "-", text).strip("-._")[:_READABLE_CHARS] or "x"
    return f"{readable}-{content_hash(text.encode('utf-8', 'surrogatepass'))[:12]}"


def slug_beginning(text: str) -> str:
    """Returns the prefix that the slugs of all texts beginning with `text` share; other slugs may have it too."""
    readable = text if _SAFE.fullmatch(text) else re.sub(_UNSAFE_RUN, "-", text).strip("-._")
    return readable[:_READABLE_CHARS].rstrip("-._")


def content_hash(data: bytes) -> str:
    """Returns the SHA-256 in hex, by which versions of a note's file are told apart (P8)."""
    from hashlib import sha256  # loads OpenSSL, which listings do not need

    return sha256(data).hexdigest()
