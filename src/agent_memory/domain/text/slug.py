"""Names for files from texts that come from outside (P21)."""

from __future__ import annotations

import re
from hashlib import sha256

_SAFE = re.compile(r"(?:T-)?[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
_READABLE_CHARS = 80
_UNSAFE_RUN = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)


def slug_of(text: str) -> str:
    """A file name (without ending) for any text: ASCII letters, digits, `.`, `_`, `-`; 1 to 113 characters, no leading dot.

    A text that is safe as it is stays as it is (the ids of most harnesses). Any other gets a hash of the whole text, so
    that two different texts never share a name, not even where the file system ignores case.
    """
    if _SAFE.fullmatch(text):
        return text
    readable = _UNSAFE_RUN.sub("-", text).strip("-._")[:_READABLE_CHARS] or "x"
    return f"{readable}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def slug_beginning(text: str) -> str:
    """How the slug of every text that begins with `text` begins; other slugs may begin so, too."""
    readable = text if _SAFE.fullmatch(text) else _UNSAFE_RUN.sub("-", text).strip("-._")
    return readable[:_READABLE_CHARS].rstrip("-._")
