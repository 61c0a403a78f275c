"""When two file names are one: on the file systems of macOS, and wherever a store may be copied to (P15)."""

from __future__ import annotations

import unicodedata


def folded_name(name: str) -> str:
    """The same for names that a file system which ignores case or normalises would not keep apart."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
