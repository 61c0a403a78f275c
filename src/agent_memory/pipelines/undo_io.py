"""All that an undo acts on."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from returns.result import Result

from agent_memory.errors import Error
from agent_memory.ports import Clock, DefragRecords, Recorder, RunLog, Store, Targets


@frozen
class UndoIo:
    """The adapters."""

    store: Store
    log: RunLog
    targets: Targets
    recorder: Recorder
    records: DefragRecords
    clock: Clock
    finish_interrupted: Callable[[], Result[object, Error]]
    """Carries out the rest of a consolidation or defrag that crashed half way."""
    new_run_id: Callable[[int], str]
    """The id of a run that begins at this instant."""
