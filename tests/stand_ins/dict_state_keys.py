"""State in memory."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.note_draft import StateValue
from agent_memory.errors import Error


@define
class DictStateKeys:
    """`StateKeys` in a dict."""

    values: dict[str, StateValue] = field(factory=dict[str, StateValue])

    def get(self, key: str) -> Result[StateValue | None, Error]:
        return Success(self.values.get(key))

    def put(self, value: StateValue) -> Result[str, Error]:
        self.values[value.key] = value
        return Success(value.key)

    def delete(self, key: str) -> Result[str, Error]:
        self.values.pop(key, None)
        return Success(key)

    def all(self) -> Iterator[Result[StateValue, Error]]:
        return iter([Success(self.values[key]) for key in sorted(self.values)])
