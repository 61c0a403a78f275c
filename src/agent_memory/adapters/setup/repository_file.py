"""What a person should know before memory's section goes into a file of their repository."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent_memory.adapters.disk.paths import FileImage, read_file
from agent_memory.adapters.git.committed import tracking_of

_MAX_BYTES = 4 << 20


def repository_notes(top: str, path: str, environ: Mapping[str, str], harnesses: tuple[str, ...]) -> tuple[str, ...]:
    """Whole sentences: whether git tracks the file, and whether Claude Code reads it."""
    claude = _claude_note(top) if "claude-code" in harnesses else ()
    return (_tracked(top, path, environ), *claude)


def _tracked(top: str, path: str, environ: Mapping[str, str]) -> str:
    match tracking_of(top, path, environ):
        case "tracked":
            return f"Git tracks {path}: whoever gets your commits gets the section, with this repository's notes."
        case "ignored":
            return f"Git ignores {path}: the section stays on this machine, and shows what is global, too."
        case "new":
            return f"Git does not track {path} yet: once it is added, whoever gets your commits gets the section."


def _claude_note(top: str) -> tuple[str, ...]:
    """Claude Code reads CLAUDE.md, which can import the other file, or be the same by a link."""
    for name in ("CLAUDE.md", ".claude/CLAUDE.md"):
        real = os.path.realpath(f"{top}/{name}")
        found = read_file(real, _MAX_BYTES).value_or(None)
        if isinstance(found, FileImage):
            if (
                real == os.path.realpath(f"{top}/AGENTS.md")
                or b"@AGENTS.md" in found.data
                or b"@../AGENTS.md" in found.data
            ):
                return ()
            return (f"Claude Code reads {top}/{name} and not AGENTS.md: put the line `@AGENTS.md` into it.",)
    return (f"Claude Code does not read AGENTS.md: a file {top}/CLAUDE.md with the line `@AGENTS.md` makes it.",)
