"""When something may be injected, what an agent has in front of it already, and how its harness wants to be told the
rest.

One parser of payloads for all harnesses, over the shapes of `capture.session_event`. Imports nothing that takes time.
"""

from posixpath import normpath

from agent_memory.capture.session_event import SessionEvent, located_event, own_session_id, plain_name
from agent_memory.recall.assembling import Passage
from agent_memory.text.json_shape import Record, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

START = "start"
ASKED = "prompt"
COMPACTED = "compact"
"""After it, what was put into the session is no longer in front of the agent."""

EVENTS = {
    **dict.fromkeys(("sessionstart",), START),
    **dict.fromkeys(("userpromptsubmit", "beforeagent", "agentstart", "beforeagentstart", "chatmessage"), ASKED),
    **dict.fromkeys(("precompress", "precompact", "postcompact", "sessioncompact", "sessioncompacted"), COMPACTED),
}
_FORGETFUL_SOURCES = frozenset(("compact", "clear"))
"""Sources of a session start after which nothing that was injected before is in front of the agent."""

MAX_PROMPT_CHARS = 4_000


class Moment(Record):
    """An event at which something may be said."""

    event: SessionEvent
    kind: str
    prompt: str
    """The part of the person's prompt that counts; empty at a session start."""
    is_fresh: bool
    """Whether what was injected earlier is no longer in front of the agent."""

    @property
    def harness(self) -> str:
        return self.event.harness


def moment_of(named: str, payload: object) -> "Moment | str | None":
    """Returns the moment of a payload; None where nothing is to be said (another event, a sub-agent); a sentence about
    an unusable payload. `named` is the harness whose hook was called."""
    event = located_event(named, payload)
    if not isinstance(event, SessionEvent) or not is_object(payload):
        return event if isinstance(event, str) else None
    kind = EVENTS.get(plain_name(event.event or ""))
    # Nothing for a sub-agent, which the payload says, or which shows in a session other than the one that speaks.
    is_named = bool(payload.get("agent_id") or payload.get("agentId"))
    if kind is None or is_named or event.session_id != own_session_id(event.harness, payload):
        return None
    prompt = payload.get("prompt", payload.get("message", ""))
    text = prompt[:MAX_PROMPT_CHARS] if isinstance(prompt, str) and kind == ASKED else ""
    return Moment(event, kind, text, kind == COMPACTED or (kind == START and event.reason in _FORGETFUL_SOURCES))


# -- what is in front of the agent already -------------------------------------------------------------------------------

SECTION_START = "<!-- agent-memory:start -->"
SECTION_END = "<!-- agent-memory:end -->"
"""As in `session.own_marks`, which takes longer to load."""

_AT_HOME: "Mapping[str, tuple[str, ...]]" = {
    "claude-code": ("{claude}/CLAUDE.md",),
    "codex": ("{codex}/AGENTS.override.md", "{codex}/AGENTS.md"),
    "amp": ("{home}/.config/amp/AGENTS.md", "{home}/.config/AGENTS.md"),
    "gemini": ("{home}/.gemini/GEMINI.md",),
    "opencode": ("{config}/opencode/AGENTS.md", "{claude}/CLAUDE.md"),
    "copilot": ("{copilot}/copilot-instructions.md",),
    "pi": ("{pi}/AGENTS.md",),
    "goose": ("{config}/goose/.goosehints",),
}
"""The first that exists is read, except by Goose, Copilot, Pi, Claude Code and Gemini, which have only one."""
_IN_REPOSITORY: "Mapping[str, tuple[str, ...]]" = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md"),
    "gemini": ("GEMINI.md",),
    "codex": ("AGENTS.override.md", "AGENTS.md"),
    "cursor": ("AGENTS.md",),
    "opencode": ("AGENTS.md", "CLAUDE.md"),
    "goose": ("AGENTS.md",),
    "copilot": ("AGENTS.md",),
    "amp": ("AGENTS.md", "AGENT.md", "CLAUDE.md"),
    "pi": ("AGENTS.md", "CLAUDE.md"),
}

_ID_CHARS = len("id__a1b2c3")


def read_files(
    harness: str, home: str, environ: "Mapping[str, str]", work_tree: str | None
) -> tuple[tuple[str, ...], ...]:
    """Returns groups of files; at the session start the harness reads the first existing one of each group."""
    named = {"home": home, **harness_directories(home, environ)}
    groups = [tuple(path.format(**named) for path in _AT_HOME.get(harness, ()))]
    if work_tree is not None:
        groups.append(tuple(f"{work_tree}/{name}" for name in read_in_repository(harness)))
    return tuple(group for group in groups if group)


def read_everywhere(home: str) -> frozenset[str]:
    """Returns the files that some harness reads in every session, whatever repository they lie in."""
    return frozenset(path for each in _AT_HOME for group in read_files(each, home, {}, None) for path in group)


def read_in_repository(harness: str) -> tuple[str, ...]:
    """Returns the names of the files that a harness reads at the top of a work tree."""
    return _IN_REPOSITORY.get(harness, ())


def harness_directories(home: str, environ: "Mapping[str, str]") -> dict[str, str]:
    """Returns the directories of harnesses: those that variables name (only absolute paths count), else the defaults.
    Goose and opencode follow `config`."""

    def named(variable: str, default: str) -> str:
        value = environ.get(variable, "")
        value = home + value[1:] if value.startswith("~/") else value
        return normpath(value) if value.startswith("/") else f"{home}/{default}"

    return {
        "claude": named("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": named("CODEX_HOME", ".codex"),
        "copilot": named("COPILOT_HOME", ".copilot"),
        "pi": named("PI_CODING_AGENT_DIR", ".pi/agent"),
        "config": named("XDG_CONFIG_HOME", ".config"),
    }


def shown_whole(text: str) -> frozenset[str]:
    """Returns the ids of the notes that the managed section of a file shows whole. After the heading of each comes a
    line that begins with its id; no note's own text can have a heading of that level."""
    start, end = text.find(SECTION_START), text.rfind(SECTION_END)
    if start < 0 or end < start:
        return frozenset()
    lines = text[start:end].splitlines()
    facts = (
        lines[at + 2] for at, line in enumerate(lines[:-2]) if line.startswith("### ") and not lines[at + 1].strip()
    )
    return frozenset(
        line[:_ID_CHARS] for line in facts if line.startswith("id__") and line[_ID_CHARS:].startswith(" · ")
    )


# -- how the harness wants to be told ------------------------------------------------------------------------------------


def unread_session(harness: str, session: str, told: str = "") -> Passage:
    """Returns the passage that says that a session was cut off or is still running, without its last words. `told`
    replaces the sentence."""
    told = told or f"The {harness} session {session} was cut off, or is still at work"
    brief = f"- {told}: `memory handoff --session {session}` shows what it was about"
    return Passage(f"session:{harness}:{session}", "recovery", "", brief)


# Claude Code, Codex, Gemini: `hookSpecificOutput.additionalContext`. Cursor: `additional_context`. Copilot, and the plugins that
# `memory setup` writes: `additionalContext`. (The harnesses' documentation of hooks.)
_NESTED = frozenset(("claude-code", "codex", "gemini"))
_MAX_CHARS = {"claude-code": 9_500}
"""Claude Code puts a context of more than 10,000 characters into a file, of which the agent sees only the beginning."""
_NO_LIMIT = 1 << 30


def hook_output(named: str, event_name: str, text: str) -> "Mapping[str, object]":
    """Returns the document for the harness whose hook was called. That harness, not the one that runs the session,
    reads the answer in its own form: Cursor and Copilot run Claude Code's hooks as such."""
    if named in _NESTED:
        return {"hookSpecificOutput": {"hookEventName": event_name, "additionalContext": text}}
    return {"additional_context" if named == "cursor" else "additionalContext": text}


def max_chars(named: str) -> int:
    """Returns how much the harness takes at once, in UTF-16 units."""
    return _MAX_CHARS.get(named, _NO_LIMIT)
