"""What was injected into which session, as a log keeps it: one line a delivery, no text of any note. Free of imports.

    {"at_ms": 1771000205123, "harness": "codex", "session": "…", "event": "start", "ids": ["id__…"], "tokens": 812,
     "scope": "github.com/owner/repo", "transcript": "/home/…"}

`event` is `start`, `prompt`, `command` (by `memory inject` itself), or `compact`: what was injected before is gone from there.
"""

from agent_memory.domain.injecting.assembling import Passage
from agent_memory.domain.injecting.moment import COMPACTED
from agent_memory.domain.json_shape import Record, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COMMAND = "command"
"""By `memory inject` itself, not by a hook."""

RECOVERY_MS = 7 * 24 * 60 * 60 * 1000
SAME_MOMENT_MS = 10_000
"""Two hooks that are told of one event, as Cursor runs its own and those of Claude Code, are not further apart."""


class Delivery(Record):
    """One line of the log."""

    at_ms: int
    harness: str
    session: str
    """Empty where none was named."""
    event: str
    ids: tuple[str, ...] = ()
    tokens: int = 0
    scope: str = ""
    transcript: str = ""
    """Where the harness says that it keeps the session; empty where it does not."""

    @property
    def members(self) -> "dict[str, object]":
        return {name: getattr(self, name) for name in type(self).__annotations__}


def delivery_of(members: object) -> Delivery | None:
    """The delivery that a line tells of; None for a line that tells of none."""
    if not is_object(members):
        return None
    harness, session, event = (members.get(key) for key in ("harness", "session", "event"))
    scope, transcript = (str(members.get(key) or "") for key in ("scope", "transcript"))
    at_ms, tokens, ids = (members.get(key) for key in ("at_ms", "tokens", "ids"))
    if not (isinstance(harness, str) and isinstance(session, str) and isinstance(event, str)):
        return None
    if not (type(at_ms) is int and type(tokens) is int and is_list(ids)):
        return None
    told = tuple(each for each in ids if isinstance(each, str))
    return Delivery(at_ms, harness, session, event, told, tokens, scope, transcript)


def known_ids(
    deliveries: "Iterable[Delivery]", harness: str, session: str, now_ms: int, *, is_fresh: bool = False
) -> "frozenset[str]":
    """The notes that a session has in front of it. `is_fresh`: it has just lost what it had, but for what another hook gave it
    at this very moment."""
    known: dict[str, int] = {}
    for each in deliveries:
        if (each.harness, each.session) == (harness, session):
            if each.event == COMPACTED:
                known = _since(known, each.at_ms - SAME_MOMENT_MS)
            known |= dict.fromkeys(each.ids, each.at_ms)
    return frozenset(_since(known, now_ms - SAME_MOMENT_MS) if is_fresh else known)


def _since(known: "dict[str, int]", at_ms: int) -> "dict[str, int]":
    return {id: when for id, when in known.items() if when >= at_ms}


def last_other_session(deliveries: "Iterable[Delivery]", scope: str, session: str, now_ms: int) -> Delivery | None:
    """The newest line of another session of this place than this one, if it is younger than seven days."""
    others = (
        each
        for each in deliveries
        if each.scope == scope and each.session not in ("", session) and now_ms - each.at_ms < RECOVERY_MS
    )
    return max(others, key=lambda each: each.at_ms, default=None)


def unread_session(harness: str, session: str, told: str = "") -> Passage:
    """That a session was cut off, or goes on, without its last words. `told`: the same in other words."""
    told = told or f"The {harness} session {session} was cut off, or is still at work"
    brief = f"- {told}: `memory handoff --session {session}` shows what it was about"
    return Passage(f"session:{harness}:{session}", "recovery", "", brief)
