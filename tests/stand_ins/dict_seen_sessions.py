"""What was seen in past sessions, in memory."""

from __future__ import annotations

from attrs import define, field

from agent_memory.domain.found_session import FoundSession, SeenSession
from agent_memory.domain.history import SessionMark


@define
class DictSeenSessions:
    """`ports.SeenSessions` in a dict."""

    sessions: dict[str, SeenSession] = field(factory=dict[str, SeenSession])
    _used: dict[str, SeenSession] = field(factory=dict[str, SeenSession])

    def recall(self, found: FoundSession, mark: SessionMark | None) -> SeenSession | None:
        seen = self.sessions.get(_key(found))
        if seen is None or not seen.is_of(found, mark):
            return None
        self._used[_key(found)] = seen
        return seen

    def keep(self, found: FoundSession, seen: SeenSession) -> None:
        self._used[_key(found)] = seen

    def save(self, harnesses: frozenset[str]) -> None:
        others = {key: seen for key, seen in self.sessions.items() if seen.harness not in harnesses}
        self.sessions = others | self._used


def _key(found: FoundSession) -> str:
    return f"{found.harness} {found.session_id} {found.path or ''}"
