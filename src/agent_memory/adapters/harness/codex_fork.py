"""Where a forked Codex rollout begins to be its own."""

from __future__ import annotations

from agent_memory.adapters.harness.codex_parts import LeftOut, Origin, Part, Record, Spoken
from agent_memory.domain.history import Role
from agent_memory.values import define

_MAX_PRELUDE = 20
_UUID_DIGITS = 32


@define
class ForkedLines:
    """Which lines of a forked rollout are copies of its parent's.

    A fork begins with the lines of its parent, under new time stamps. What tells them apart are the ids of the model's
    turns, which hold the time when each was begun (UUIDv7): the first one that is not older than the fork is its own, with
    the prompt right before it. Ids of another form tell nothing, and everything from there on is taken.
    """

    created_ms: int | None = None
    open: bool = True
    prelude: list[Record] | None = None

    def note(self, origin: Origin) -> None:
        """The first `session_meta`."""
        self.created_ms = _time_in(origin.id) or origin.started_at_ms or 0
        if origin.forked_from_id and self.created_ms:
            self.open = False
            self.prelude = []

    def pass_on(self, record: Record) -> tuple[Record, ...] | None:
        """What is to be taken before this record, held back until now; None where this one is not to be taken (yet)."""
        if self.open or record.origin is not None:
            return ()
        if record.turn_id is not None:
            time_ms = _time_in(record.turn_id)
            if record.turn_id and (time_ms is None or time_ms >= (self.created_ms or 0)):
                self.open = True
                return tuple(self.prelude or ())
            self.prelude = []
        elif all(isinstance(part, LeftOut) or _is_prompt(part) for part in record.parts):
            self.prelude = [*(self.prelude or []), *([record] if record.parts else [])][-_MAX_PRELUDE:]
        else:
            self.prelude = []
        return None


def _is_prompt(part: Part) -> bool:
    return isinstance(part, Spoken) and part.role is Role.USER


def _time_in(id: str) -> int | None:
    """The time in a UUIDv7, in ms since 1970; None for any other id."""
    digits = id.replace("-", "")
    if len(digits) != _UUID_DIGITS or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16)
    except ValueError:
        return None
