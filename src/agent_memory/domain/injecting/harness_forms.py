"""How each harness wants to be told what to put into a session: the JSON on a hook's stdout. Free of imports.

Claude Code, Codex, Gemini: `hookSpecificOutput.additionalContext`. Cursor: `additional_context`. Copilot, and the plugins that
`memory setup` writes: `additionalContext`. (The harnesses' documentation of hooks.)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_NESTED = frozenset(("claude-code", "codex", "gemini"))
_MAX_CHARS = {"claude-code": 9_500}
"""Claude Code puts a longer context than 10,000 characters into a file, of which the agent sees only the beginning."""
_NO_LIMIT = 1 << 30


def hook_output(named: str, event_name: str, text: str) -> "Mapping[str, object]":
    """The document for the harness whose hook was called. It, not the harness that runs the session, reads the answer in
    its own form: Cursor and Copilot run the hooks of Claude Code as such."""
    if named in _NESTED:
        return {"hookSpecificOutput": {"hookEventName": event_name, "additionalContext": text}}
    return {"additional_context" if named == "cursor" else "additionalContext": text}


def max_chars(named: str) -> int:
    """What the harness takes at once, in UTF-16 units."""
    return _MAX_CHARS.get(named, _NO_LIMIT)
