"""For `memory search`, and whatever else finds entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.domain.searching.search import FoundEntries, Mode, SearchAnswer, SearchRequest
from agent_memory.errors import Error
from agent_memory.results import sealed
from agent_memory.searching import Searching

if TYPE_CHECKING:
    from agent_memory.adapters.embedding.indexed_meanings import IndexedMeanings
    from agent_memory.app import Memory

WORTH_TELLING = 1_000
"""Fewer notes are taken in before anybody has read that they are."""


def search(memory: Memory, request: SearchRequest) -> Result[SearchAnswer, Error]:
    """See `Searching.search`."""
    return _searching(memory, request.mode).search(request)


def find(memory: Memory, request: SearchRequest) -> Result[FoundEntries, Error]:
    """See `Searching.find`."""
    return _searching(memory, request.mode).find(request)


def _searching(memory: Memory, mode: Mode) -> Searching:
    """What compares meanings is loaded only where it is asked for."""
    meanings, why = (None, "") if mode is Mode.BM25 else _meanings(memory)
    return Searching(memory.store, memory.index, meanings, memory.clock, memory.caller, why)


def index_all(memory: Memory, progress: Callable[[str], None], *, by_meaning: bool) -> None:
    """As `Memory.index_all` has it. What comes of it, the next search says."""

    def told(left: int) -> None:
        if left >= WORTH_TELLING:
            progress(f"Taking {left:,} notes into the index of searches")

    memory.index.refresh(left=told)
    meanings = _meanings(memory)[0] if by_meaning else None
    if meanings is not None:
        meanings.fill()


def _meanings(memory: Memory) -> tuple[IndexedMeanings | None, str]:
    from agent_memory.adapters.embedding.indexed_meanings import IndexedMeanings

    match sealed(memory.embedder):
        case Success(embedder):
            return IndexedMeanings(memory.index, memory.store, embedder), ""
        case Failure(why):
            return None, why
