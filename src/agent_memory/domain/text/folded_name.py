"""When two file names are one: on the file systems of macOS, and wherever a store may be copied to (P15)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

_NAMES_A_TEXT = 4_000
_BETWEEN = "\0"
"""What is in no name, folds to itself, and composes with nothing."""


def folded_name(name: str) -> str:
    """The same for names that a file system which ignores case or normalises would not keep apart."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def folded_names(names: Sequence[str]) -> list[str]:
    """Each of these folded, none of which holds a NUL. Many in one text, since to fold each of 50,000 takes ten times as long."""
    folded: list[str] = []
    for start in range(0, len(names), _NAMES_A_TEXT):
        folded += folded_name(_BETWEEN.join(names[start : start + _NAMES_A_TEXT])).split(_BETWEEN)
    return folded


class TakenNames:
    """Asked with `in`, whether a name is one of these to any of those file systems."""

    def __init__(self, names: Iterable[str]) -> None:
        left = iter(names)
        self._folded: list[str] = []
        # As in `folded_names`.
        while some := list(islice(left, _NAMES_A_TEXT)):
            self._folded.append(folded_name(f"{_BETWEEN}{_BETWEEN.join(some)}{_BETWEEN}"))

    def __contains__(self, name: str) -> bool:
        wanted = f"{_BETWEEN}{folded_name(name)}{_BETWEEN}"
        return any(wanted in folded for folded in self._folded)
