"""Past sessions in memory."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.session.found_session import FoundSession


@define
class DictFinder:
    """`ports.SessionFinder` over a dict, by session id, and errors that it meets on the way."""

    sessions: dict[str, FoundSession] = field(factory=dict[str, FoundSession])
    errors: list[Error] = field(factory=list[Error])

    def put(self, found: FoundSession) -> None:
        """Find this from now on."""
        self.sessions[found.session_id] = found

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        yield from map(Failure, self.errors)
        for found in list(self.sessions.values()):
            if since_ms is None or found.changed_at_ms >= since_ms:
                yield Success(found)
