"""A history that cannot be written, as where git's index is locked."""

from __future__ import annotations

from collections.abc import Sequence

from returns.result import Failure, Result

from agent_memory.errors import Error, RecorderFailed
from stand_ins.dict_recorder import DictRecorder

SAID = "the index is locked"


class RefusingRecorder(DictRecorder):
    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        return Failure(RecorderFailed("git commit", 128, SAID))
