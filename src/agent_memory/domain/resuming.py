"""How each harness takes one of its own sessions up again, and what it is called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from agent_memory.domain.vocabulary import Harness

NAMES: Mapping[Harness, str] = {
    Harness.CLAUDE_CODE: "Claude Code",
    Harness.CODEX: "Codex",
    Harness.CURSOR: "Cursor",
    Harness.AMP: "Amp",
    Harness.GEMINI: "Gemini CLI",
    Harness.OPENCODE: "opencode",
    Harness.COPILOT: "Copilot CLI",
    Harness.PI: "Pi",
    Harness.GOOSE: "Goose",
    Harness.AIDER: "Aider",
    Harness.MANUAL: "a person",
}

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
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,127})", re.ASCII)


def resume_command(harness: str, session_id: str | None, cwd: str | None) -> str | None:
    """The shell command that goes on with the session, from its directory; None where the harness has none, and for an id
    that no harness would have given: id and directory come from files that anyone may have written, and must not reach a
    shell as anything else than one word (P21)."""
    command = _COMMANDS.get(harness)
    if command is None or session_id is None or not _PLAIN.fullmatch(session_id):
        return None
    resumed = command.format(id=session_id)
    return f"cd {shlex.quote(cwd)} && {resumed}" if cwd and cwd.startswith("/") and cwd.isprintable() else resumed
