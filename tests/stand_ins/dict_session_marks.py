"""Session marks in memory."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.history import SessionMark
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error


@define
class DictSessionMarks:
    """`SessionMarks` in a dict."""

    marks: dict[tuple[Harness, str], SessionMark] = field(factory=dict[tuple[Harness, str], SessionMark])

    def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]:
        return Success(self.marks.get((harness, session_id)))

    def put(self, mark: SessionMark) -> Result[None, Error]:
        self.marks[mark.harness, mark.session_id] = mark
        return Success(None)

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        return map(Success, list(self.marks.values()))
