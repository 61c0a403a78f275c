"""A recorder that keeps what it was told."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.rules.commit_message import commit_message


@frozen
class Recorded:
    """One commit."""

    paths: tuple[str, ...]
    message: str


@define
class DictRecorder:
    """A `Recorder` without a history; with `refusal`, one that cannot write, as where git's index is locked."""

    refusal: Error | None = None
    commits: list[Recorded] = field(factory=list[Recorded])
    """Oldest first."""

    def warnings(self) -> tuple[str, ...]:
        return ()

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        return Success(0)

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        if self.refusal is not None:
            return Failure(self.refusal)
        if paths:
            self.commits.append(Recorded(tuple(sorted(paths)), commit_message(subject, body)))
        return Success(None)
