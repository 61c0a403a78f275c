"""For `memory search`, and whatever else finds entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Result

from agent_memory.domain.searching.search_answer import SearchAnswer
from agent_memory.domain.searching.search_request import SearchRequest
from agent_memory.errors import Error
from agent_memory.searching import Searching

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def search(memory: Memory, request: SearchRequest) -> Result[SearchAnswer, Error]:
    """See `Searching.search`."""
    return _searching(memory).search(request)


def _searching(memory: Memory) -> Searching:
    return Searching(memory.store, memory.index, None, memory.ledger, memory.clock, memory.caller)
