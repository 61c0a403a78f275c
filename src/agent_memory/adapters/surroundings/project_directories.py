"""Where sessions are known to have been."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listing
from agent_memory.errors import Error

MAX_DIRECTORIES = 1_000


def project_directories(
    of_sessions: Iterable[Result[str, Error]], listing: Result[Listing, Error], most: int = MAX_DIRECTORIES
) -> Iterator[Result[str, Error]]:
    """The absolute directories `of_sessions`, then those that entries come from, the entries changed last first: each
    once, at most so many; errors come with them."""
    known: set[str] = set()

    def is_new(found: Result[str, Error]) -> bool:
        directory = found.value_or("")
        is_another = directory.startswith("/") and directory not in known
        known.add(directory)
        return is_another or isinstance(found, Failure)

    return islice(filter(is_new, chain(of_sessions, _of_entries(listing))), most)


def _of_entries(listing: Result[Listing, Error]) -> Iterator[Result[str, Error]]:
    if isinstance(listing, Failure):
        yield listing
        return
    for each in sorted(listing.unwrap().entries, key=lambda listed: listed.meta.updated_at_ms, reverse=True):
        yield from (Success(source.cwd) for source in each.meta.sources if source.cwd is not None)
