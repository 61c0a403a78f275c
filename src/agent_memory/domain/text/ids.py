"""Ids of entries: `id__` and six base58 digits, minted from title and creation time, never changed afterwards; and a set of any ids of
which there may be millions."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Container
from hashlib import sha256
from itertools import count
from typing import Annotated, TypeAlias

ID_PATTERN = r"id__[1-9A-HJ-NP-Za-km-z]{6}"
"""An id, as a regular expression without groups or anchors (Bitcoin's base58 alphabet: no `0 O I l`)."""

_DIGITS = 6
_ID = re.compile(ID_PATTERN)


def is_id(text: str) -> bool:
    """Whether the whole text is an id."""
    return _ID.fullmatch(text) is not None


def entry_id_problem(value: object) -> str | None:
    """What is wrong with a value that is to be an id."""
    return None if isinstance(value, str) and is_id(value) else "is not an id"


EntryId: TypeAlias = Annotated[str, entry_id_problem]


def mint_id(title: str, created_at_ms: int, taken: Container[str]) -> str:
    """The first free id of a title and a time; the same arguments give the same id on every machine. `taken` holds casefolded ids: live ones, aliases and archived ones. The digits are those of
    `int(sha256(NFC(title) "\\n" created_at_ms "\\n" n)) % 58**6` for n = 0, 1, …, padded with `1`: the remainder, since the
    first characters of the whole number's encoding are skewed.
    """
    seed = f"{unicodedata.normalize('NFC', title)}\n{created_at_ms}\n"
    return next(id for id in (_id_of(f"{seed}{n}") for n in count()) if id.casefold() not in taken)


def _id_of(text: str) -> str:
    # "surrogatepass" makes this total: a title from a foreign program may hold what UTF-8 cannot.
    import base58  # loads OpenSSL: hardly a command mints an id

    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    return "id__" + base58.b58encode_int(number % 58**_DIGITS).decode("ascii").rjust(_DIGITS, "1")


# -- many ids ----------------------------------------------------------------------------------------------------------


_MASK = (1 << 64) - 1


class IdSet:
    """Remembers ids by a 64-bit hash: with five million of them, the chance that two are taken for one is 1 in 10⁶."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._count = 0

    def add(self, id: str) -> bool:
        """Whether it is new here; it is in the set afterwards."""
        key = _key(id)
        at = self._slot(key)
        if self._slots[at]:
            return False
        self._slots[at] = key
        self._count += 1
        if self._count * 2 > len(self._slots):
            keys, self._slots = self._slots, array("Q", bytes(2 * 8 * len(self._slots)))
            for key in filter(None, keys):
                self._slots[self._slot(key)] = key
        return True

    def __contains__(self, id: str) -> bool:
        return self._slots[self._slot(_key(id))] != 0

    def __len__(self) -> int:
        return self._count

    def _slot(self, key: int) -> int:
        slots, last = self._slots, len(self._slots) - 1
        at = key & last
        while slots[at] not in (0, key):
            at = (at + 1) & last
        return at


def _key(id: str) -> int:
    return hash(id) & _MASK or 1
