"""How each harness takes one of its own sessions up again, and what it is called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from agent_memory.domain.vocabulary import Harness

_HARNESSES: Mapping[Harness, tuple[str, str]] = {
    Harness.CLAUDE_CODE: ("Claude Code", "claude --resume {id}"),
    Harness.CODEX: ("Codex", "codex resume {id}"),
    Harness.CURSOR: ("Cursor", "cursor-agent --resume {id}"),
    Harness.AMP: ("Amp", "amp threads continue {id}"),
    Harness.GEMINI: ("Gemini CLI", "gemini --resume {id}"),
    Harness.OPENCODE: ("opencode", "opencode --session {id}"),
    Harness.COPILOT: ("Copilot CLI", "copilot --resume {id}"),
    Harness.PI: ("Pi", "pi --session {id}"),
    Harness.GOOSE: ("Goose", "goose session --resume --session-id {id}"),
    Harness.AIDER: ("Aider", "aider --restore-chat-history"),
    Harness.MANUAL: ("a person", ""),
}
NAMES: Mapping[Harness, str] = {harness: name for harness, (name, _) in _HARNESSES.items()}
_COMMANDS: Mapping[str, str] = {harness: command for harness, (_, command) in _HARNESSES.items()}
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,127})", re.ASCII)


def resume_command(harness: str, session_id: str | None, cwd: str | None) -> str | None:
    """The shell command that goes on with the session, from its directory; None where the harness has none, and for an id
    that no harness would have given: id and directory come from files that anyone may have written, and must not reach a
    shell as anything else than one word (P21)."""
    command = _COMMANDS.get(harness)
    if not command or session_id is None or not _PLAIN.fullmatch(session_id):
        return None
    resumed = command.format(id=session_id)
    return f"cd {shlex.quote(cwd)} && {resumed}" if cwd and cwd.startswith("/") and cwd.isprintable() else resumed
