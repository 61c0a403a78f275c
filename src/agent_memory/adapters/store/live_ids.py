"""Who of the live entries bears an id, as its own or as an alias, compared without case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from agent_memory.domain.entry import Listed

_path = attrgetter("path")
_id = attrgetter("meta.id")
_aliases = attrgetter("meta.aliases")


class LiveIds:
    """An index over a mapping of live entries by id, in which None stands for an entry that is live no more.

    The mapping may change, and change back: every entry that ever comes into it is to be told with `note`, and every answer
    is compared with the mapping as it is then.
    """

    def __init__(self, live: Mapping[str, Listed | None]) -> None:
        self._live = live
        self._bearers: dict[str, tuple[str, ...]] | None = None
        self._noted: list[Listed] = []
        """Before anybody asked."""

    def note(self, listed: Listed) -> None:
        """An entry that is live now, or has other aliases."""
        if self._bearers is None:
            self._noted.append(listed)
        else:
            _enter(self._bearers, (listed,))

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries with this id or alias, by path."""
        wanted = id.casefold()
        if self._bearers is None:
            self._bearers = _bearers_among([each for each in self._live.values() if each is not None])
            _enter(self._bearers, self._noted)
        found = (self._live.get(each) for each in self._bearers.get(wanted, ()))
        return tuple(sorted((each for each in found if each is not None and _bears(each, wanted)), key=_path))


def _bears(listed: Listed, wanted: str) -> bool:
    return wanted in (id.casefold() for id in (listed.meta.id, *listed.meta.aliases))


def _bearers_among(entries: Sequence[Listed]) -> dict[str, tuple[str, ...]]:
    """The ids of the entries that bear each id or alias, casefolded. Of 50,000 nearly every one bears its own alone."""
    ids = list(map(_id, entries))
    bearers = dict[str, tuple[str, ...]](zip(map(str.casefold, ids), zip(ids), strict=True))
    if len(bearers) == len(ids):
        _enter(bearers, [each for each, aliases in zip(entries, map(_aliases, entries), strict=True) if aliases])
    else:
        bearers.clear()
        _enter(bearers, entries)
    return bearers


def _enter(bearers: dict[str, tuple[str, ...]], entries: Iterable[Listed]) -> None:
    for listed in entries:
        id = listed.meta.id
        for borne in (id, *listed.meta.aliases):
            folded = borne.casefold()
            known = bearers.get(folded, ())
            if id not in known:
                bearers[folded] = (*known, id)
