"""How a session is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Result

from agent_memory.adapters.harness import history_sources
from agent_memory.adapters.inbox.recent_entries import recent_entries
from agent_memory.domain.inbox_entry import InboxEntry, retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error
from agent_memory.pipelines.handing_over import (
    HandingOverIo,
    Kept,
    Taken,
    keep_handover as keep_handover_with,
    take_named,
    take_newest,
)
from agent_memory.recorded_writes import RecordedWrites

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory

_STRANGE_IDS = {Harness.AMP: "T-", Harness.OPENCODE: "ses"}
"""Harnesses that are asked by a command of theirs name their sessions in a way of their own: how such an id begins."""


def take_over(memory: Memory, session_id: str | None, harness: Harness | None) -> Result[Taken, Error]:
    """As `Memory.take_over` has it."""
    io = _handing_over_io(memory)
    if session_id is None:
        return take_newest(io, memory.scope_here(), harness)
    named = (harness,) if harness is not None else _could_be(session_id)
    retrievals = ((each, retrieval_of(each, session_id)) for each in named)
    guesses = [InboxEntry(memory.clock.now_ms(), each, how) for each, how in retrievals if how is not None]
    return take_named(io, session_id, harness, guesses)


def _could_be(session_id: str) -> tuple[Harness, ...]:
    return tuple(each for each in Harness if session_id.startswith(_STRANGE_IDS.get(each, "")))


def keep_handover(memory: Memory, taken: Taken) -> Result[Kept, Error]:
    """As `Memory.keep_handover` has it."""
    return keep_handover_with(_handing_over_io(memory), taken)


def _handing_over_io(memory: Memory) -> HandingOverIo:
    return HandingOverIo(
        histories=history_sources(memory.surroundings()),
        kept=memory.kept_histories,
        tombstones=memory.tombstones,
        places=memory.places,
        store=memory.store,
        writes=RecordedWrites(memory.store, memory.recorder, memory.locks, memory.caller, memory.warn, memory.publish),
        clock=memory.clock,
        recent=lambda: recent_entries(memory.real_root),
        handoff_days=memory.config.limits.handoff_days,
    )
