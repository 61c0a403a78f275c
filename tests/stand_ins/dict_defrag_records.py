"""Defrag records in memory."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.actions import Deferred
from agent_memory.domain.defrag_run import DefragRun, TieringMemo, leaves_something_half_done
from agent_memory.errors import Error
from agent_memory.formats.run_json import DEFERRED, DEFRAG_CHECKPOINT, TIERING
from stand_ins.dict_replies import DictReplies


@define
class DictDefragRecords(DictReplies):
    """`DefragRecords` in dicts. What is kept goes through its text form, as on disk."""

    checkpoints: dict[str, str] = field(factory=dict[str, str])
    later: str = field(factory=lambda: DEFERRED.render(()))
    memo: str = field(factory=lambda: TIERING.render(TieringMemo()))
    finished: dict[str, tuple[DefragRun, Error | None]] = field(factory=dict[str, tuple[DefragRun, Error | None]])

    def checkpoint(self, state: str, run: DefragRun) -> Result[None, Error]:
        if leaves_something_half_done(state, run):
            self.checkpoints[run.id] = DEFRAG_CHECKPOINT.render((state, run))
        return Success(None)

    def unfinished(self) -> Result[tuple[str, DefragRun] | None, Error]:
        for run_id in sorted(self.checkpoints):
            return Success(DEFRAG_CHECKPOINT.parse(self.checkpoints[run_id].encode(), run_id))
        return Success(None)

    def finish(self, run: DefragRun, error: Error | None) -> Result[None, Error]:
        self.finished[run.id] = (run, error)
        if error is None or error == run.trouble:
            self.checkpoints.pop(run.id, None)
        return Success(None)

    def deferred(self) -> Result[tuple[Deferred, ...], Error]:
        return Success(tuple(DEFERRED.parse(self.later.encode(), "deferred")))

    def put_deferred(self, deferred: Sequence[Deferred]) -> Result[None, Error]:
        self.later = DEFERRED.render(deferred)
        return Success(None)

    def tiering(self) -> Result[TieringMemo, Error]:
        return Success(TIERING.parse(self.memo.encode(), "tiering"))

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]:
        self.memo = TIERING.render(memo)
        return Success(None)
