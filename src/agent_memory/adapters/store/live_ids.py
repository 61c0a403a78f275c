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

    def __init__(self, live: Mapping[str, Listed | None], bearers: Mapping[str, str | tuple[str, ...]]) -> None:
        self._live = live
        self._bearers = bearers
        self._noted: dict[str, tuple[str, ...]] = {}
        """The same for what was noted since, with those of the beginning."""

    def note(self, listed: Listed) -> None:
        """An entry that is live now, or has other aliases."""
        for folded in folded_ids(listed):
            known = self._ids(folded)
            if listed.meta.id not in known:
                self._noted[folded] = (*known, listed.meta.id)

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries with this id or alias, by path."""
        wanted = id.casefold()
        found = (self._live.get(each) for each in self._ids(wanted))
        return tuple(sorted((each for each in found if each is not None and wanted in folded_ids(each)), key=_path))

    def _ids(self, folded: str) -> tuple[str, ...]:
        return self._noted.get(folded) or ids_in(self._bearers, folded)
