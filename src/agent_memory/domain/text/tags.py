"""Tags: a prefix, two underscores, a slug (`topic__xstate`, `area__front-end`). A slug is safe in any path and shell word (P21)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from agent_memory.domain.text.plain_text import clean_text, cut_chars

MAX_TAG_CHARS = 64
DEFAULT_PREFIX = "topic"

_NORMAL = re.compile(r"[a-z][a-z0-9]*(?<!id)__[a-z0-9]+(?:[-.+#][a-z0-9]+)*", re.ASCII)
_PREFIXED = re.compile(r"([A-Za-z][A-Za-z0-9]*)__(.*)", re.DOTALL)
_HASHED = re.compile(r"(?<![^\s(,;])#([^\W\d_][\w-]*)(?![\w#(<])")
_COLOUR = re.compile(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}")
_CODE = re.compile(r"(?ms)^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`")
_SELECTORS = "\ufe0e\ufe0f"
_SEPARATORS = re.compile(r"[\s,]+")
_REPEATS = re.compile(r"-{2,}|\.{2,}")


def normal_tag(text: str) -> str | None:
    """The tag that a person or a model meant by `text`; None where nothing of it can be a tag.

    Lower case, NFC; a slug holds letters, digits and their marks of any script, and `- . + #`; anything else becomes `-`.
    Without a prefix it gets `topic__`. Longer than `MAX_TAG_CHARS` it is cut. A normal tag stays as it is.
    """
    if len(text) <= MAX_TAG_CHARS and _NORMAL.fullmatch(text):
        return text
    cleaned = clean_text(text.strip()).text
    prefixed = _PREFIXED.fullmatch(cleaned)
    # `id__…` and `grid__…` could read as an entry's id in a file name.
    if prefixed and not prefixed[1].lower().endswith("id"):
        prefix, rest = prefixed[1].lower(), prefixed[2]
    else:
        prefix, rest = DEFAULT_PREFIX, cleaned
    slug = _slug(cut_chars(_slug(rest), MAX_TAG_CHARS - len(prefix) - 2))
    return f"{prefix}__{slug}" if slug else None


def normal_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """The normal tags among `texts`, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys([tag for tag in map(normal_tag, texts) if tag is not None]))


def tags_in(text: str) -> tuple[str, ...]:
    """The normal tags that a text names as `#word`, outside code: not a number, a colour or a part of an address."""
    words = _HASHED.findall(_CODE.sub(" ", text))
    return normal_tags(word for word in words if not _COLOUR.fullmatch(word))


def split_tags(text: str) -> tuple[str, ...]:
    """The words of a list separated by commas or white space, as they were written."""
    return tuple(word for word in _SEPARATORS.split(text) if word)


def _slug(text: str) -> str:
    kept = ""
    for character in unicodedata.normalize("NFC", text.lower()):
        category = unicodedata.category(character)
        if category in ("Mn", "Mc"):  # a vowel sign or an accent belongs to a letter; alone it would sit on the prefix
            continues = kept[-1:] not in ("", "-") and character not in _SELECTORS
        else:
            continues = character in "-.+#" or category[0] in "LN"
        kept += character if continues else "-"
    slug = _REPEATS.sub(lambda run: run[0][0], kept).rstrip("-.").lstrip("-#+")
    return slug if any(character.isalnum() for character in slug) else ""
