"""The shell command that resumes a session in its own harness."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from agent_memory.note.note import Harness

_COMMANDS: Mapping[str, str] = {
    Harness.CLAUDE_CODE: "claude --resume {id}",
    Harness.CODEX: "codex resume {id}",
    Harness.CURSOR: "cursor-agent --resume {id}",
    Harness.AMP: "amp threads continue {id}",
    Harness.GEMINI: "gemini --resume {id}",
    Harness.OPENCODE: "opencode --session {id}",
    Harness.COPILOT: "copilot --resume {id}",
    Harness.PI: "pi --session {id}",
    Harness.GOOSE: "goose session --resume --session-id {id}",
    Harness.AIDER: "aider --restore-chat-history",
}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}", re.ASCII)


def resume_command(harness: str, session_id: str | None, cwd: str | None) -> str | None:
    """Returns the command, to run in the session's directory, or None for a harness without one and an id that none
    would mint. Id and directory come from files that anyone may have written, and must be one shell word each (P21)."""
    command = _COMMANDS.get(harness)
    if command is None or not _ID.fullmatch(session_id or ""):
        return None
    resumed = command.format(id=session_id)
    return f"cd {shlex.quote(cwd)} && {resumed}" if cwd and cwd.startswith("/") and cwd.isprintable() else resumed
