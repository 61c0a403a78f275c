"""Who of the live entries bears an id, as its own or as an alias, compared without case; found without looking at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import attrgetter

from agent_memory.domain.entry import Listed

_path = attrgetter("path")
_FEW = 4
"""Questions for which every entry is asked: to note all of them first takes longer."""


class LiveIds:
    """An index over a mapping of live entries by id, in which None stands for an entry that is live no more.

    The mapping may change, and change back: every entry that ever comes into it is to be told with `note`, and every answer
    is compared with the mapping as it is then.
    """

    def __init__(self, live: Mapping[str, Listed | None]) -> None:
        self._live = live
        self._asked = 0
        self._noted = [each for each in live.values() if each is not None]
        self._bearers: dict[str, set[str]] | None = None

    def note(self, listed: Listed) -> None:
        """An entry that is live now, or has other aliases."""
        if self._bearers is None:
            self._noted.append(listed)
        else:
            _enter(self._bearers, (listed,))

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries with this id or alias, by path."""
        wanted = id.casefold()
        self._asked += 1
        if self._bearers is None and self._asked <= _FEW:
            there = (each for each in self._live.values() if each is not None)
            return tuple(sorted((each for each in there if _bears(each, wanted)), key=_path))
        if self._bearers is None:
            self._bearers = defaultdict(set)
            _enter(self._bearers, self._noted)
        found = (self._live.get(each) for each in self._bearers.get(wanted, ()))
        return tuple(sorted((each for each in found if each is not None and _bears(each, wanted)), key=_path))


def _bears(listed: Listed, wanted: str) -> bool:
    meta = listed.meta
    return meta.id.casefold() == wanted or (bool(meta.aliases) and wanted in _borne(listed))


def _enter(bearers: dict[str, set[str]], entries: Iterable[Listed]) -> None:
    for listed in entries:
        for borne in _borne(listed):
            bearers[borne].add(listed.meta.id)


def _borne(listed: Listed) -> tuple[str, ...]:
    return (listed.meta.id.casefold(), *[alias.casefold() for alias in listed.meta.aliases])
