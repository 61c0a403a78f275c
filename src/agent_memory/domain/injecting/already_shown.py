"""What an agent has in front of it already: the files with a managed section that its harness reads, and what is hot there.
Free of imports, since a hook uses it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECTION_START = "<!-- agent-memory:start -->"
SECTION_END = "<!-- agent-memory:end -->"
"""As in `domain.transcripts.own_marks`, which takes longer to load."""

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
"""The first that exists is read, except by Goose, Copilot, Pi, Claude Code and Gemini, which have one only."""
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
    """Groups of files; the harness reads the first of each group that exists, at the session's start."""
    named = {
        "home": home,
        "claude": _directory(environ, "CLAUDE_CONFIG_DIR", home, ".claude"),
        "codex": _directory(environ, "CODEX_HOME", home, ".codex"),
        "copilot": _directory(environ, "COPILOT_HOME", home, ".copilot"),
        "pi": _directory(environ, "PI_CODING_AGENT_DIR", home, ".pi/agent"),
        "config": _directory(environ, "XDG_CONFIG_HOME", home, ".config"),
    }
    groups = [tuple(path.format(**named) for path in _AT_HOME.get(harness, ()))]
    if work_tree is not None:
        groups.append(tuple(f"{work_tree}/{name}" for name in _IN_REPOSITORY.get(harness, ())))
    return tuple(group for group in groups if group)


def _directory(environ: "Mapping[str, str]", variable: str, home: str, default: str) -> str:
    value = environ.get(variable, "")
    value = home + value[1:] if value.startswith("~/") else value
    return value.rstrip("/") if value.startswith("/") and value.strip("/") else f"{home}/{default}"


def shown_whole(text: str) -> frozenset[str]:
    """The ids of the notes that the managed section of a file shows whole. Behind the heading of each stands the line that
    begins with its id; no note's own text can have a heading of that level."""
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
