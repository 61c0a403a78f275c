"""What is in each note by itself: noticed before, or by reading it now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from returns.result import Failure, Success

from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.results import sealed
from agent_memory.errors import EntryChanged, EntryNotFound
from agent_memory.pipelines.defrag_io import DefragIo
from agent_memory.wording import describe


def notice(
    io: DefragIo, live: Iterable[Listed], words: Vocabulary, missed: list[str]
) -> Iterator[tuple[Listed, Noticed]]:
    """Each note, as it was read, with what is noticed in it, in numbers of these words. What cannot be read is added to
    `missed`, in words."""
    for listed in live:
        stored = read_as_listed(io, listed, missed)
        if stored is not None:
            yield stored.listed, noticed_in(stored, words)


def read_as_listed(io: DefragIo, listed: Listed, missed: list[str]) -> StoredEntry | None:
    """The entry under its id; None where it went away meanwhile, or cannot be read, which is added to `missed`."""
    match sealed(io.store.read_again(listed)):
        case Success(stored) if stored.meta.id == listed.meta.id:
            return stored
        case Success(_) | Failure(EntryNotFound() | EntryChanged()):
            return None  # it went away or was merged meanwhile
        case Failure(error):
            missed.append(f"{listed.path} was left out: {describe(error)}")
            return None
