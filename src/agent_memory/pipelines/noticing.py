"""What is in each note by itself: noticed before, or by reading it now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from returns.result import Failure, Success

from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.results import sealed
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryChanged, EntryNotFound
from agent_memory.pipelines.defrag_io import DefragIo
from agent_memory.wording import describe


def words_of(io: DefragIo) -> Vocabulary:
    """The words that `notice` is to number next."""
    return Vocabulary() if io.noticed is None else io.noticed.words


def notice(
    io: DefragIo, live: Iterable[Listed], words: Vocabulary, missed: list[str]
) -> Iterator[tuple[Listed, Noticed]]:
    """Each note, as it was read, and what is noticed in it. What cannot be read is added to `missed`, in words."""
    for listed in live:
        known = None if io.noticed is None else io.noticed.recall(listed.content_hash)
        if known is not None:
            yield listed, known
            continue
        stored = read_as_listed(io, listed, missed)
        if stored is not None:
            yield stored.listed, _noticed(io, stored, words)
    if io.noticed is not None:
        io.noticed.save()


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


def _noticed(io: DefragIo, stored: StoredEntry, words: Vocabulary) -> Noticed:
    noticed = noticed_in(stored, words)
    # Words of a secret note are nothing to keep anywhere else.
    if io.noticed is not None and stored.meta.sensitivity is not Sensitivity.SECRET:
        io.noticed.keep(stored.listed.content_hash, noticed)
    return noticed
