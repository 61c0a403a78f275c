"""How to open a session again in its harness."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Harness

_COMMANDS: Mapping[Harness, str] = {
    Harness.CLAUDE_CODE: "claude --resume",
    Harness.CODEX: "codex resume",
    Harness.OPENCODE: "opencode --session",
    Harness.AMP: "amp threads markdown",
}
"""Of the harnesses that can be asked for a session by its id: their own command line help. Amp only prints it."""

_MOST_CHARS = 1_000


def reopening_command(harness: Harness, session_id: str | None, cwd: str | None) -> str | None:
    """A line for a shell that opens the session where it took place; None where the harness has no such command.

    Id and directory come from files that anyone may have written: both are quoted, and one that could not be shown on a
    terminal as it is makes no command at all.
    """
    command = _COMMANDS.get(harness)
    if command is None or not session_id or not _is_plain(session_id) or session_id.startswith("-"):
        return None
    opened = f"{command} {shlex.quote(session_id)}"
    return f"cd {shlex.quote(cwd)} && {opened}" if cwd and cwd.startswith("/") and _is_plain(cwd) else opened


def _is_plain(text: str) -> bool:
    return one_line(text, _MOST_CHARS) == text
