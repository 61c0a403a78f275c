"""Defrag records in memory."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.actions import Deferred
from agent_memory.domain.defrag_run import DefragRun, TieringMemo, leaves_something_half_done
from agent_memory.errors import Error
from agent_memory.formats.run_json import (
    parse_deferred,
    parse_defrag_checkpoint,
    parse_tiering,
    render_deferred,
    render_defrag_checkpoint,
    render_tiering,
)
from stand_ins.dict_replies import DictReplies


@define
class DictDefragRecords(DictReplies):
    """`DefragRecords` in dicts. What is kept goes through its text form, as on disk."""

    checkpoints: dict[str, str] = field(factory=dict[str, str])
    later: str = field(factory=lambda: render_deferred(()))
    memo: str = field(factory=lambda: render_tiering(TieringMemo()))
    finished: dict[str, tuple[DefragRun, Error | None]] = field(factory=dict[str, tuple[DefragRun, Error | None]])

    def checkpoint(self, state: str, run: DefragRun) -> Result[None, Error]:
        """See the port."""
        if leaves_something_half_done(state, run):
            self.checkpoints[run.id] = render_defrag_checkpoint(state, run)
        return Success(None)

    def unfinished(self) -> Result[tuple[str, DefragRun] | None, Error]:
        """See the port."""
        for run_id in sorted(self.checkpoints):
            return Success(parse_defrag_checkpoint(self.checkpoints[run_id], run_id))
        return Success(None)

    def finish(self, run: DefragRun, error: Error | None) -> Result[None, Error]:
        """See the port."""
        self.finished[run.id] = (run, error)
        if error is None or error == run.trouble:
            self.checkpoints.pop(run.id, None)
        return Success(None)

    def deferred(self) -> Result[tuple[Deferred, ...], Error]:
        """See the port."""
        return parse_deferred(self.later, "deferred")

    def put_deferred(self, deferred: Sequence[Deferred]) -> Result[None, Error]:
        """See the port."""
        self.later = render_deferred(deferred)
        return Success(None)

    def tiering(self) -> Result[TieringMemo, Error]:
        """See the port."""
        return Success(parse_tiering(self.memo, "tiering"))

    def put_tiering(self, memo: TieringMemo) -> Result[None, Error]:
        """See the port."""
        self.memo = render_tiering(memo)
        return Success(None)
