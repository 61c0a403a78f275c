"""What goes to the archive by the clock and by the person's own caps: nobody has to judge it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from agent_memory.domain.actions import Archive
from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.instants import has_passed, iso_of


@frozen
class Due:
    """Archivings that a defrag carries out whatever an agent proposes, and also where none answers."""

    expired: tuple[Archive, ...] = ()
    """The longest expired first."""
    surplus: tuple[Archive, ...] = ()
    """The least valuable first: as many entries have to go, by these or by other actions."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in (*self.expired, *self.surplus))


def due_archivings(live: Sequence[Listed], analysis: Analysis, now_ms: int) -> Due:
    """What has expired by now, and what the analysis found over a cap."""
    surplus = (Archive(each.ids[0], each.reason) for each in analysis.of_kind(FindingKind.SURPLUS))
    return Due(tuple(expired_archivings(live, now_ms)), tuple(surplus))


def expired_archivings(entries: Iterable[Listed], now_ms: int) -> Iterable[Archive]:
    """One for each entry that has expired, the longest expired first."""
    ends = ((each.meta.expires_at_ms, each.meta.id) for each in entries)
    ended = sorted((at_ms, id) for at_ms, id in ends if has_passed(at_ms, now_ms))
    return (Archive(id, f"it expired on {iso_of(at_ms)[:10]}") for at_ms, id in ended)
