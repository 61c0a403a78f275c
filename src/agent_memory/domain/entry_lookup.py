"""What the entries of a listing are found by, without going through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agent_memory.domain.packed_entries import Unpacking, column_of, rows_of, unpacking

if TYPE_CHECKING:
    from agent_memory.domain.entry import Listed

Several = dict[str, "str | list[str]"]
"""Ids by what several entries may share, though hardly any do: of 50,000 nearly every one stands alone, and takes no list."""


class Found:
    """Some entries, by what they are asked for."""

    __slots__ = ("_bearers", "_entries", "by_id")

    def __init__(self, entries: Sequence[Listed], by_id: Unpacking[Listed]) -> None:
        self._entries = entries
        self.by_id = by_id
        self._bearers: Several | None = None

    @property
    def bearers(self) -> Mapping[str, str | list[str]]:
        """The ids of the entries that have an id or alias, by its casefolded form (`ids_in`): worked out when somebody asks."""
        if self._bearers is None:
            self._bearers = _bearers_among(self._entries)
        return self._bearers

    def changed(self, entries: Sequence[Listed], gone: Sequence[Listed], new: Sequence[Listed]) -> Found:
        """That of `entries`, which are these without what is gone, and with what is new."""
        by_id = unpacking(self.by_id)
        for each in gone:
            del by_id.rows[each.meta.id]
        by_id.rows.update((each.meta.id, each) for each in new)
        return Found(entries, by_id)


class EntryLookup:
    """Works out once what a tuple of entries is found by. It says nothing that the entries do not, and so is equal to any."""

    __slots__ = ("_entries", "_found")

    def __init__(self, entries: Sequence[Listed] = (), found: Found | None = None) -> None:
        self._entries = entries
        self._found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EntryLookup)

    def __hash__(self) -> int:
        return 0

    def among(self, entries: Sequence[Listed]) -> Found:
        """What these entries are found by."""
        if self._found is None or self._entries is not entries:
            self._entries, self._found = entries, _found_among(entries)
        return self._found

    def changed(self, entries: Sequence[Listed], gone: Sequence[Listed], new: Sequence[Listed]) -> EntryLookup:
        """That of `entries`, which are those of this one without what is gone, and with what is new: without looking at the
        others, where this one has been asked before."""
        if self._found is None:
            return EntryLookup()
        return EntryLookup(entries, self._found.changed(entries, gone, new))


def ids_in(several: Mapping[str, str | list[str]], key: str) -> Sequence[str]:
    """The ids by this key, each once."""
    found = several.get(key, ())
    return (found,) if isinstance(found, str) else found


def folded_ids(listed: Listed) -> tuple[str, ...]:
    """The id of an entry and its aliases, casefolded."""
    return tuple(id.casefold() for id in (listed.meta.id, *listed.meta.aliases))


def _found_among(entries: Sequence[Listed]) -> Found:
    rows, packed = rows_of(entries)
    return Found(entries, Unpacking(dict(zip(column_of(entries, "meta.id"), rows, strict=True)), packed))


def _bearers_among(entries: Sequence[Listed]) -> Several:
    bearers: Several = {}
    for id, aliases in zip(column_of(entries, "meta.id"), column_of(entries, "meta.aliases"), strict=True):
        for each in (id, *aliases):
            folded = each.casefold()
            known = bearers.setdefault(folded, id)
            if isinstance(known, list):
                if known[-1] != id:
                    known.append(id)
            elif known != id:
                bearers[folded] = [known, id]
    return bearers
