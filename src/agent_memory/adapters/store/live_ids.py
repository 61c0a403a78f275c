"""Who of the live entries bears an id, as its own or as an alias, compared without case."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from agent_memory.domain.entry import Listed
from agent_memory.domain.entry_lookup import folded_ids, ids_in

_path = attrgetter("path")


class LiveIds:
    """An index over a mapping of live entries by id, in which None stands for an entry that is live no more.

    The mapping may change, and change back: `bearers` says who bore what in the beginning, every entry that comes into it
    later is to be told with `note`, and every answer is compared with the mapping as it is then.
    """

    def __init__(self, live: Mapping[str, Listed | None], bearers: Mapping[str, str | list[str]]) -> None:
        self._live = live
        self._bearers = bearers
        self._noted: dict[str, dict[str, None]] = {}
        """The same for what was noted since."""
        self._folded: dict[str, tuple[Listed, frozenset[str]]] = {}
        """What the entries that were asked for bear, by their ids."""

    def note(self, listed: Listed) -> None:
        """An entry that is live now, or has other aliases."""
        for folded in folded_ids(listed):
            self._noted.setdefault(folded, {})[listed.meta.id] = None

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries with this id or alias, by path."""
        wanted = id.casefold()
        ids = dict.fromkeys((*ids_in(self._bearers, wanted), *self._noted.get(wanted, ())))
        found = (self._live.get(each) for each in ids)
        return tuple(sorted((each for each in found if each is not None and wanted in self._borne_by(each)), key=_path))

    def _borne_by(self, listed: Listed) -> frozenset[str]:
        known = self._folded.get(listed.meta.id)
        if known is None or known[0] is not listed:
            known = self._folded[listed.meta.id] = listed, frozenset(folded_ids(listed))
        return known[1]
