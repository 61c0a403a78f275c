"""Run records in memory."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.change import Change
from agent_memory.domain.run import Run, leaves_something_half_done
from agent_memory.errors import Error
from agent_memory.formats.run_json import CHECKPOINT
from stand_ins.dict_replies import DictReplies


@define
class DictRunRecords(DictReplies):
    """`RunRecords` in dicts. A checkpoint goes through its text form, as on disk."""

    checkpoints: dict[str, str] = field(factory=dict[str, str])
    later: tuple[Change, ...] = ()
    finished: dict[str, tuple[Run, Error | None]] = field(factory=dict[str, tuple[Run, Error | None]])

    def checkpoint(self, state: str, run: Run) -> Result[None, Error]:
        if leaves_something_half_done(state, run):
            self.checkpoints[run.id] = CHECKPOINT.render((state, run))
        return Success(None)

    def unfinished(self) -> Result[tuple[str, Run] | None, Error]:
        for run_id in sorted(self.checkpoints):
            return Success(CHECKPOINT.parse(self.checkpoints[run_id].encode(), run_id))
        return Success(None)

    def deferred(self) -> Result[tuple[Change, ...], Error]:
        return Success(self.later)

    def put_deferred(self, changes: Sequence[Change]) -> Result[None, Error]:
        self.later = tuple(changes)
        return Success(None)

    def finish(self, run: Run, error: Error | None) -> Result[None, Error]:
        if not run.dry_run:
            self.finished[run.id] = (run, error)
        if error is None:
            self.checkpoints.pop(run.id, None)
        return Success(None)
