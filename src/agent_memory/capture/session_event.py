"""Reduces a hook's payload to what locates the session.

Each harness names things differently; `SHAPES` has one entry for each. Pure, and imports only the value rules, since
capture uses it inside every turn of every agent.

An entry is only a hint that a session has content, several fold into one, and every harness loses some end events. So
every event of a session counts (the end of a turn, which is the checkpoint; the session's end; compaction, a failed
turn, a prompt, an event that we have never heard of), except the start of a session that is still empty. `memory setup`
asks for none in the middle of a turn.

Events of a sub-agent belong to the session that started it, according to the payload or the transcript's path. Whether
a person took part is decided from the transcript, which shows it better (`History.automated`).
"""

from agent_memory.text.json_shape import Record, is_list, is_object
from agent_memory.text.value_rules import id_problem, path_problem, shown, version_problem, word_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_USUAL: "dict[str, tuple[str, ...]]" = {
    "session_id": ("session_id",),
    "session_path": ("transcript_path",),
    "cwd": ("cwd",),
    "event": ("hook_event_name",),
    "reason": ("reason", "source", "trigger"),
    "version": (),
    "root_id": (),
}

SHAPES: "dict[str, dict[str, tuple[str, ...]]]" = {
    "claude-code": _USUAL,
    "codex": _USUAL,
    "cursor": {
        **_USUAL,
        "session_id": ("conversation_id", "session_id"),
        "cwd": ("cwd", "workspace_roots"),
        "version": ("cursor_version",),
        "reason": ("reason", "status", "source", "trigger"),
        "root_id": ("parent_conversation_id",),
    },
    "gemini": _USUAL,
    "copilot": {
        **_USUAL,
        "session_id": ("sessionId", "session_id"),
        "session_path": ("transcriptPath", "transcript_path"),
        "event": ("hook_event_name", "hookEventName"),
        "reason": ("reason", "stopReason", "source", "trigger"),
    },
    "goose": {**_USUAL, "cwd": ("working_dir", "cwd"), "event": ("event", "hook_event_name")},
    # The form in which plugins pass on their harness's event, with the directory beside it.
    "amp": {
        **_USUAL,
        "session_id": ("thread.id", "threadId", "threadID", "session_id"),
        "session_path": (),
        "cwd": ("cwd", "directory"),
        "event": ("event", "type"),
        "reason": ("status", "reason"),
    },
    "opencode": {
        **_USUAL,
        "session_id": ("properties.sessionID", "event.properties.sessionID", "sessionID", "session_id"),
        "session_path": (),
        "cwd": ("directory", "cwd"),
        "event": ("type", "event.type", "event"),
        "root_id": ("parentID", "properties.info.parentID", "event.properties.info.parentID"),
    },
    "pi": {
        **_USUAL,
        "session_id": ("sessionId", "session_id"),
        "session_path": ("sessionFile", "transcript_path"),
        "event": ("type", "event"),
    },
}
"""For each harness and fact the payload's keys to try; the first present one counts. `a.b` is `b` in the object `a`."""

_COPILOT_EVENTS = {
    "toolName": "toolUse",
    "agentName": "subagentStop",
    "stopReason": "agentStop",
    "reason": "sessionEnd",
    "trigger": "preCompact",
    "source": "sessionStart",
    "prompt": "userPromptSubmitted",
    "error": "errorOccurred",
}
"""The event of a Copilot payload without a name, by a key that only this event has."""


PAYLOAD_KEYS = frozenset(
    [
        *("cursor_version", "generation_id", "sessionId", "timestamp", "transcript_path", "turn_id", "source"),
        *("agent_type", "matcher_context"),
        *(key.partition(".")[0] for shape in SHAPES.values() for keys in shape.values() for key in keys),
        *_COPILOT_EVENTS,
    ]
)
"""All keys that are ever read."""


class SessionEvent(Record):
    """What a payload says about its session. Every value obeys its rule in `value_rules`, or is None."""

    harness: str
    method: str
    session_id: str
    session_path: "str | None" = None
    cwd: "str | None" = None
    event: "str | None" = None
    reason: "str | None" = None
    harness_version: "str | None" = None


def true_harness(named: str, payload: "dict[str, object]") -> str:
    """Returns the harness whose payload this is, by its own marks: Cursor and Copilot run the hooks installed for
    Claude Code, Codex can load its plugins, Gemini imports its hooks. So a session that two hooks report is still one.
    """
    if named in ("amp", "opencode", "pi"):  # only our own plugins send these
        return named
    if "cursor_version" in payload or ("conversation_id" in payload and "generation_id" in payload):
        return "cursor"
    path = payload.get("transcript_path")
    keeper = keeper_of(path) if isinstance(path, str) else None
    if keeper is not None:
        return keeper
    if "matcher_context" in payload:
        return "goose"
    if "sessionId" in payload:
        return "copilot"
    if named == "claude-code":
        if "timestamp" in payload and "transcript_path" not in payload:
            return "copilot"
        if "turn_id" in payload or ("transcript_path" in payload and path is None):
            return "codex"
    return named


def session_event(named: str, payload: object) -> "SessionEvent | str | None":
    """Returns the event in a payload, None if it records nothing, or text that says why it is unusable."""
    if is_object(payload):
        harness = true_harness(named, payload)
        event = _event_name(payload, harness) if harness in SHAPES else None
        if event is not None and says_nothing_new(event, payload.get("source"), payload.get("agent_type")):
            return None
        if harness == "codex" and payload.get("transcript_path", "") is None:
            return None  # `--ephemeral`: any other session has its file before a hook runs
    return located_event(named, payload)


def located_event(named: str, payload: object) -> "SessionEvent | str":
    """Returns the event in a payload, whether it records anything or not, or text that says why it is unusable."""
    if not is_object(payload):
        return f"the payload is {shown(payload)}, expected an object"
    harness = true_harness(named, payload)
    shape = SHAPES.get(harness)
    if shape is None:
        return f"{harness} has no hooks; known are {', '.join(SHAPES)}"
    session_id = _first(payload, shape["session_id"])
    problem = "is missing" if session_id is None else id_problem(session_id)
    if problem is not None or not isinstance(session_id, str):
        return f"{shape['session_id'][0]} {problem}"
    path = _valid(_first(payload, shape["session_path"]), path_problem)
    root_id = _valid(_first(payload, shape["root_id"]), id_problem)
    root = root_session(path) if path is not None else None
    if root_id is not None and root_id != session_id:
        session_id, path = root_id, None
    elif root is not None and id_problem(root[0]) is None:
        session_id, path = root
    return SessionEvent(
        harness,
        method_of(harness),
        session_id,
        path,
        _valid(_first(payload, shape["cwd"]), path_problem),
        _event_name(payload, harness),
        _valid(_first(payload, shape["reason"]), _name_problem),
        _valid(_first(payload, shape["version"]), version_problem),
    )


def method_of(harness: str) -> str:
    """Returns the method to retrieve the history of a session of this harness."""
    return "amp-thread" if harness == "amp" else f"{harness}-session"


def own_session_id(harness: str, payload: "dict[str, object]") -> object:
    """Returns the payload's id of its own session, which may be a sub-agent's."""
    return _first(payload, SHAPES[harness]["session_id"])


def _event_name(payload: "dict[str, object]", harness: str) -> str | None:
    named = _valid(_first(payload, SHAPES[harness]["event"]), _name_problem)
    if named is not None or harness != "copilot":
        return named
    return next((event for key, event in _COPILOT_EVENTS.items() if key in payload), None)


def _first(payload: "dict[str, object]", keys: tuple[str, ...]) -> object:
    for key in keys:
        value: object = payload
        for part in key.split("."):
            value = value.get(part) if is_object(value) else None
        if is_list(value):  # the first of several work spaces is the session's own
            value = value[0] if value else None
        if value is not None:
            return value
    return None


def _valid(value: object, problem_of: "Callable[[object], str | None]") -> str | None:
    return value if isinstance(value, str) and problem_of(value) is None else None


def _name_problem(value: object) -> str | None:
    """Accepts the name of an event or a reason: a word with two digits at most. Nearly every secret has more."""
    has_many = isinstance(value, str) and sum(map(str.isdigit, value)) > 2
    return "has many digits" if has_many else word_problem(value)


# -- which events record ----------------------------------------------------------------------------------------------

STARTS_WITH_CONTENT = frozenset(("resume", "compact"))
"""The `source` of session starts that continue a session; `startup`, `clear`, `new` and `fork` begin an empty one."""


def plain_name(event: str) -> str:
    """Returns one spelling of an event's name: `sessionstart` for `session_start`, `session.start`, `SessionStart`."""
    return event.casefold().replace(".", "").replace("_", "").replace("-", "")


def says_nothing_new(event: str, source: object, agent_type: object) -> bool:
    """Returns whether an event needs no entry. `agent_type` is "" for the helper that writes a compaction's summary,
    which is not one of the person's sub-agents."""
    name = plain_name(event)
    if name == "sessionstart":
        return not (isinstance(source, str) and source in STARTS_WITH_CONTENT)
    return name == "subagentstop" and agent_type == ""


# -- transcript paths: only the last parts count, since every harness can keep its files elsewhere ---------------------


def keeper_of(path: str) -> str | None:
    """Returns the harness that names its transcripts like this, if any."""
    *above, name = path.split("/")[-4:]
    if "agent-transcripts" in above:
        return "cursor"
    if name.startswith("rollout-"):
        return "codex"
    if "chats" in above[-2:] and name.endswith((".json", ".jsonl")):
        return "gemini"
    if "session-state" in above[-2:]:
        return "copilot"
    return "claude-code" if above[-2:-1] == ["projects"] and name.endswith(".jsonl") else None


def root_session(path: str) -> tuple[str, str | None] | None:
    """Returns the id of the session that started the sub-agent of this transcript, and that session's own transcript if
    the path tells it; None for a root session's.

    `<session>/subagents/<sub-agent>.jsonl` (Claude Code, whose workflows are one level deeper, and Cursor), and
    `chats/<session>/<sub-agent>.jsonl` (Gemini).
    """
    parts = path.split("/")
    for at in (-2, -3):
        if len(parts) > 1 - at and parts[at] == "subagents":
            session, around = parts[at - 1], "/".join(parts[: at - 1])
            inside = parts[at - 2] == "agent-transcripts"
            return session, f"{around}/{session}/{session}.jsonl" if inside else f"{around}/{session}.jsonl"
    if len(parts) > 3 and parts[-3] == "chats":
        return parts[-2], None
    return None
