"""Which ids are not free."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain

from attrs import frozen

from agent_memory.domain.entry import Listed, Listing, Listings


def taken_ids(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is not free, casefolded: live, archived, and their aliases."""
    return frozenset(map(str.casefold, chain(borne_ids(live.entries), borne_ids(archive.entries))))


def borne_ids(entries: Sequence[Listed]) -> Iterator[str]:
    """The aliases of these entries, then their ids."""
    return chain(
        chain.from_iterable(filter(None, [each.meta.aliases for each in entries])), [each.meta.id for each in entries]
    )


@frozen
class TakenIds:
    """Asked with `in`, whether an id, casefolded, is not free on either shelf."""

    listed: Listings

    def __contains__(self, folded: object) -> bool:
        return any(folded in listing.found.bearers for listing in (self.listed.live, self.listed.archive))


class TakenBesides:
    """Asked with `in`: what is taken already, and these, casefolded, without a set of all."""

    def __init__(self, taken: Container[str], besides: Iterable[str]) -> None:
        self._taken = taken
        self._besides = set(map(str.casefold, besides))

    def add(self, id: str) -> None:
        """It is taken from now on."""
        self._besides.add(id.casefold())

    def __contains__(self, folded: object) -> bool:
        return isinstance(folded, str) and (folded in self._besides or folded in self._taken)
