"""What of the store a window of a session is asked about and checked against."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from returns.result import Result

from agent_memory.domain.entry import Listed, Listing, StoredEntry
from agent_memory.errors import Error
from agent_memory.pipelines.consolidate_io import ConsolidateIo


@frozen
class Shelf:
    """What of the store matters to one window."""

    live: Listing
    archive: Listing
    catalog: Sequence[Listed] = ()
    """The entries that the agent may know of, the most related first."""
    shown: tuple[StoredEntry, ...] = ()
    """The entries to be shown in full."""
    tags: tuple[str, ...] = ()
    """Those in use, the most used first."""


def read_shelf(io: ConsolidateIo) -> Result[Shelf, Error]:
    """What is live and what is archived, or was a moment ago: what is written upon it is compared with what is there then."""
    return io.store.list().bind(lambda live: io.store.list(archived=True).map(lambda archive: Shelf(live, archive)))
