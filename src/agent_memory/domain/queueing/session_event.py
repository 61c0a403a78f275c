"""A hook's payload, reduced to what locates the session.

Payloads name the same things differently in each harness; `SHAPES` has one entry a harness. Pure and free of imports
but the value rules, since capture uses it inside every turn of every agent.

Which events record: an entry is only a hint that a session has content, several fold into one, and end events get lost
on every harness. So every event of a session counts (the turn's end, the session's end, compaction, a failed turn, a
prompt, an event that we have never heard of), except those that can say nothing new: the ones in the midst of a turn,
whose end follows, and the start of a session that is still empty. What happens in a sub-agent belongs to the root
session, whose id is in the payload; the helper that writes a compaction summary is no sub-agent of the person's.
"""

from agent_memory.domain.queueing.inbox_rules import id_problem, path_problem, shown, version_problem, word_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MID_TURN_EVENTS = frozenset(
    (
        "pretooluse",
        "posttooluse",
        "posttoolusefailure",
        "posttoolbatch",
        "permissionrequest",
        "permissiondenied",
        "notification",
        "subagentstart",
        "cwdchanged",
        "filechanged",
        "configchange",
        "instructionsloaded",
        "taskcreated",
        "elicitation",
        "elicitationresult",
        "worktreecreate",
        "worktreeremove",
        "beforetool",
        "aftertool",
        "beforetoolselection",
        "beforemodel",
        "aftermodel",
        "beforeshellexecution",
        "aftershellexecution",
        "beforemcpexecution",
        "aftermcpexecution",
        "beforereadfile",
        "afterfileedit",
        "beforetabfileread",
        "aftertabfileedit",
        "afteragentthought",
    )
)
"""Casefolded names, as the harnesses' documents list them."""

STARTS_WITH_CONTENT = frozenset(("resume", "compact"))
"""The `source` of session starts that go on with a session; `startup`, `clear`, `new` and `fork` begin an empty one."""


class Shape:
    """Where a harness's payload says what: for each fact the keys to look at, the first present one counts."""

    __slots__ = ("cwd", "event", "method", "reason", "session_id", "session_path", "version")

    def __init__(
        self,
        method: str,
        session_id: tuple[str, ...] = ("session_id",),
        session_path: tuple[str, ...] = ("transcript_path",),
        cwd: tuple[str, ...] = ("cwd",),
        event: tuple[str, ...] = ("hook_event_name",),
        reason: tuple[str, ...] = ("reason", "source", "trigger"),
        version: tuple[str, ...] = (),
    ) -> None:
        self.method = method
        self.session_id = session_id
        self.session_path = session_path
        self.cwd = cwd
        self.event = event
        self.reason = reason
        self.version = version


SHAPES = {
    "claude-code": Shape("claude-code-session"),
    "codex": Shape("codex-session"),
    "cursor": Shape(
        "cursor-session",
        session_id=("conversation_id", "session_id"),
        cwd=("cwd", "workspace_roots"),
        version=("cursor_version",),
    ),
    "gemini": Shape("gemini-session"),
    "copilot": Shape(
        "copilot-session",
        session_id=("sessionId", "session_id"),
        session_path=("transcriptPath", "transcript_path"),
        event=("hook_event_name", "hookEventName"),
    ),
    "goose": Shape("goose-session", cwd=("working_dir", "cwd"), event=("event", "hook_event_name")),
}

PAYLOAD_KEYS = frozenset(
    [
        *("cursor_version", "sessionId", "timestamp", "transcript_path", "turn_id", "source", "agent_type"),
        *(
            key
            for shape in SHAPES.values()
            for keys in (shape.session_id, shape.session_path, shape.cwd, shape.event, shape.reason, shape.version)
            for key in keys
        ),
    ]
)
"""All keys that are ever looked at."""


class SessionEvent:
    """What a payload says about its session. Every value obeys its rule in `inbox_rules`; None where it did not."""

    __slots__ = ("cwd", "event", "harness", "harness_version", "method", "reason", "session_id", "session_path")

    def __init__(
        self,
        harness: str,
        method: str,
        session_id: str,
        session_path: str | None = None,
        cwd: str | None = None,
        event: str | None = None,
        reason: str | None = None,
        harness_version: str | None = None,
    ) -> None:
        self.harness = harness
        self.method = method
        self.session_id = session_id
        self.session_path = session_path
        self.cwd = cwd
        self.event = event
        self.reason = reason
        self.harness_version = harness_version


def true_harness(named: str, payload: "dict[str, object]") -> str:
    """Whose payload this is. Cursor and Copilot run the hooks that a person installed for Claude Code, and Codex can
    load its plugins: there the payload's own marks tell, wherever the command line says `claude-code`."""
    if "cursor_version" in payload:
        return "cursor"
    if named == "claude-code":
        if "sessionId" in payload or ("timestamp" in payload and "transcript_path" not in payload):
            return "copilot"
        if "turn_id" in payload:
            return "codex"
    return named


def session_event(named: str, payload: object) -> "SessionEvent | str | None":
    """The event behind a payload; None for one that records nothing; in words what is wrong with an unusable one."""
    if not isinstance(payload, dict):
        return f"the payload is {shown(payload)}, expected an object"
    harness = true_harness(named, payload)
    shape = SHAPES.get(harness)
    if shape is None:
        return f"{harness} has no hooks; known are {', '.join(SHAPES)}"
    session_id = _first(payload, shape.session_id)
    event = _valid(_first(payload, shape.event), word_problem)
    if event is not None and _says_nothing_new(event, payload):
        return None
    problem = "is missing" if session_id is None else id_problem(session_id)
    if problem is not None or not isinstance(session_id, str):
        return f"{shape.session_id[0]} {problem}"
    return SessionEvent(
        harness,
        shape.method,
        session_id,
        _valid(_first(payload, shape.session_path), path_problem),
        _valid(_first(payload, shape.cwd), path_problem),
        event,
        _valid(_first(payload, shape.reason), word_problem),
        _valid(_first(payload, shape.version), version_problem),
    )


def _says_nothing_new(event: str, payload: "dict[str, object]") -> bool:
    name = event.casefold()
    if name == "sessionstart":
        return payload.get("source") not in STARTS_WITH_CONTENT
    if name == "subagentstop":
        return payload.get("agent_type") == ""
    return name in MID_TURN_EVENTS


def _first(payload: "dict[str, object]", keys: tuple[str, ...]) -> object:
    for key in keys:
        value = payload.get(key)
        if isinstance(value, list):  # several work spaces: the first is the session's own
            value = value[0] if value else None
        if value is not None:
            return value
    return None


def _valid(value: object, problem_of: "Callable[[object], str | None]") -> str | None:
    return value if isinstance(value, str) and problem_of(value) is None else None
