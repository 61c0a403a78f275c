"""Kept histories in memory."""

from __future__ import annotations

from itertools import count

from attrs import define, field
from returns.result import Result, Success

from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.kept_history import KeptPart, KeptSession, joined_history
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error
from agent_memory.formats.history_lines import render_history_lines

Key = tuple[Harness, str]


@define
class DictKeptHistories:
    """`ports.KeptHistories` in a dict. A part is as large as its lines, and "when" is the order in which they came."""

    cap_bytes: int = 512 << 20
    parts: dict[Key, dict[tuple[int, str], KeptPart]] = field(factory=dict[Key, dict[tuple[int, str], KeptPart]])
    _grown_at: dict[Key, int] = field(factory=dict[Key, int])
    _ticks: count[int] = field(factory=lambda: count(1), repr=False)

    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        part = KeptPart(history, after_record_id)
        if not history.turns or _size(part) > self.cap_bytes:
            return Success(None)
        key = (history.harness, history.session_id)
        first = history.turns[0]
        self.parts.setdefault(key, {})[first.number, first.record_id] = part
        self._grown_at[key] = next(self._ticks)
        while self._total() > self.cap_bytes:
            del self.parts[min(self.parts, key=lambda each: self._grown_at[each])]
        return Success(None)

    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> Result[History | None, Error]:
        parts = self.parts.get((harness, session_id), {})
        return Success(joined_history((parts[at] for at in sorted(parts)), mark))

    def sessions(self) -> Result[tuple[KeptSession, ...], Error]:
        keys = sorted(self.parts, key=lambda each: self._grown_at[each])
        return Success(
            tuple(
                KeptSession(f"{key[0]}_{key[1]}", sum(map(_size, self.parts[key].values())), self._grown_at[key])
                for key in keys
            )
        )

    def forget(self, harness: Harness, session_id: str) -> Result[None, Error]:
        self.parts.pop((harness, session_id), None)
        return Success(None)

    def _total(self) -> int:
        return sum(_size(part) for parts in self.parts.values() for part in parts.values())


def _size(part: KeptPart) -> int:
    return sum(map(len, render_history_lines(part)))
