"""How a watch is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_directory
from agent_memory.adapters.harness.session_finders import watched_directories
from agent_memory.adapters.harness.transcript_changes import transcript_changes
from agent_memory.bootstrap.backfilling import backfill_io
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.vocabulary import Harness
from agent_memory.domain.watching import Rest
from agent_memory.errors import Error, UsageInvalid
from agent_memory.pipelines.backfill_io import BackfillIo
from agent_memory.pipelines.watch import Watching, WatchIo, watch as watch_with

if TYPE_CHECKING:
    from threading import Event

    from agent_memory.bootstrap.memory import Memory


def watch(
    memory: Memory,
    harnesses: Sequence[Harness],
    rest: Rest,
    stop: Event,
    tell: Callable[[str], None],
    warn: Callable[[str], None],
    *,
    wait_for_transcripts: bool,
) -> Result[Watching, Error]:
    """As `Memory.watch` has it."""

    def watched(io: BackfillIo) -> Result[Watching, Error]:
        chosen = {harness: finder for harness, finder in io.finders.items() if not harnesses or harness in harnesses}
        directories = watched_directories(chosen)
        if chosen and not wait_for_transcripts and _are_missing(directories):
            problem = f"There are no transcripts yet in {', '.join(directories) or 'any known directory'}"
            return Failure(UsageInvalid(problem, "--wait-for-transcripts waits for them."))
        wait = transcript_changes(stop, directories)
        return watch_with(
            WatchIo(io, wait, stop.is_set, lambda found: _hand_over(memory, found), tell, warn), harnesses, rest
        )

    return backfill_io(memory, watching=True).bind(watched)


def _are_missing(directories: Sequence[str]) -> bool:
    """Whether none of them is there; one of which that cannot be told is watched like the others."""
    return all(is_directory(each) == Success(False) for each in directories)


def _hand_over(memory: Memory, found: FoundSession) -> Result[str | None, Error]:
    """Bring the handoff note of a session up to date; None where nobody asked for anything in it."""

    def none_if_nothing(error: Error) -> Result[str | None, Error]:
        return Success(None) if isinstance(error, UsageInvalid) else Failure(error)

    taken = memory.take_over(found.session_id, found.harness)
    return taken.bind(memory.keep_handover).map(lambda kept: kept.id).lash(none_if_nothing)
