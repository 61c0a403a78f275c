"""When something may be injected: what a hook's payload says of the session and of what was just asked.

One parser for all harnesses, over the shapes of `queueing.session_event`. Pure and free of imports but that, since a hook
runs before every answer of every agent.
"""

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.queueing.hook_events import plain_name
from agent_memory.domain.queueing.session_event import SessionEvent, located_event, own_session_id

START = "start"
ASKED = "prompt"
COMPACTED = "compact"
"""What was put into the session is no longer in front of the agent."""

_EVENTS = {
    **dict.fromkeys(("sessionstart",), START),
    **dict.fromkeys(("userpromptsubmit", "beforeagent", "agentstart", "beforeagentstart", "chatmessage"), ASKED),
    **dict.fromkeys(("precompress", "precompact", "postcompact", "sessioncompact", "sessioncompacted"), COMPACTED),
}
_FORGETFUL_SOURCES = frozenset(("compact", "clear"))
"""Sources of a session's start after which nothing that was injected before is in front of the agent."""

MAX_PROMPT_CHARS = 4_000


class Moment:
    """Something may be said now."""

    __slots__ = ("cwd", "event", "event_name", "harness", "is_fresh", "kind", "prompt", "session_id")

    def __init__(self, event: SessionEvent, kind: str, prompt: str, is_fresh: bool) -> None:
        self.event = event
        self.harness = event.harness
        self.session_id = event.session_id
        self.cwd = event.cwd
        self.event_name = event.event or ""
        """As the harness spells it."""
        self.kind = kind
        self.prompt = prompt
        """What the person asked, as far as it counts; empty at a session's start."""
        self.is_fresh = is_fresh
        """What was injected into the session earlier is not in front of the agent any more."""


def moment_of(named: str, payload: object) -> "Moment | str | None":
    """The moment that a payload tells of; None where nothing is to be said (another event, a sub-agent); in words what is
    wrong with an unusable one. `named` is whose hook was called."""
    event = located_event(named, payload)
    if not isinstance(event, SessionEvent) or not is_object(payload):
        return event if isinstance(event, str) else None
    kind = _EVENTS.get(plain_name(event.event or ""))
    if kind is None or _is_sub_agent(event, payload):
        return None
    prompt = payload.get("prompt", payload.get("message", ""))
    text = prompt[:MAX_PROMPT_CHARS] if isinstance(prompt, str) and kind == ASKED else ""
    return Moment(event, kind, text, kind == COMPACTED or (kind == START and event.reason in _FORGETFUL_SOURCES))


def _is_sub_agent(event: SessionEvent, payload: "dict[str, object]") -> bool:
    """By the payload's own word, or because the session is another than the one that speaks."""
    named = payload.get("agent_id") or payload.get("agentId")
    return bool(named) or event.session_id != own_session_id(event.harness, payload)
