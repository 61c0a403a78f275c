"""What the entries of a listing are found by, without going through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_memory.domain.entry import Listed

Several = dict[str, "str | list[str]"]
"""Ids by what several entries may share, though hardly any do: of 50,000 nearly every one stands alone, and takes no list."""


class Found:
    """Some entries, by what they are asked for."""

    __slots__ = ("_bearers", "_entries", "by_id")

    def __init__(self, entries: Sequence[Listed], by_id: Mapping[str, Listed]) -> None:
        self._entries = entries
        self.by_id = by_id
        self._bearers: Several | None = None

    @property
    def bearers(self) -> Mapping[str, str | list[str]]:
        """The ids of the entries that have an id or alias, by its casefolded form (`ids_in`): worked out when somebody asks."""
        if self._bearers is None:
            self._bearers = _bearers_among(self._entries)
        return self._bearers


class EntryLookup:
    """Works out once what a tuple of entries is found by. It says nothing that the entries do not, and so is equal to any."""

    __slots__ = ("_entries", "_found")

    def __init__(self) -> None:
        self._entries: Sequence[Listed] = ()
        self._found: Found | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EntryLookup)

    def __hash__(self) -> int:
        return 0

    def among(self, entries: Sequence[Listed]) -> Found:
        """What these entries are found by."""
        if self._found is None or self._entries is not entries:
            self._entries, self._found = entries, _found_among(entries)
        return self._found


def ids_in(several: Mapping[str, str | list[str]], key: str) -> Sequence[str]:
    """The ids by this key, each once."""
    found = several.get(key, ())
    return (found,) if isinstance(found, str) else found


def folded_ids(listed: Listed) -> tuple[str, ...]:
    """The id of an entry and its aliases, casefolded."""
    return tuple(id.casefold() for id in (listed.meta.id, *listed.meta.aliases))


def _found_among(entries: Sequence[Listed]) -> Found:
    return Found(entries, {each.meta.id: each for each in entries})


def _bearers_among(entries: Sequence[Listed]) -> Several:
    bearers: Several = {}
    for listed in entries:
        id = listed.meta.id
        for each in (id, *listed.meta.aliases):
            folded = each.casefold()
            known = bearers.setdefault(folded, id)
            if isinstance(known, list):
                if known[-1] != id:
                    known.append(id)
            elif known != id:
                bearers[folded] = [known, id]
    return bearers
