"""Which harnesses a person has: by the directories that they keep, and by programs on PATH whose names are theirs alone."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from agent_memory.domain.installing.ground import Ground

_PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("claude",),
    "codex": ("codex",),
    "cursor": ("cursor", "cursor-agent"),
    "amp": ("amp",),
    "gemini": ("gemini",),
    "opencode": ("opencode",),
    "copilot": ("copilot",),
}
"""`pi` and `goose` are also the names of well-known other programs, so these two count by their directories alone."""

PROGRAM_NAMES = ("memory", "agent-memory")


def detected(ground: Ground, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The harnesses that are here, in the order of their list."""
    home = ground.home
    directories = {
        "claude-code": (ground.claude,),
        "codex": (ground.codex,),
        "cursor": (f"{home}/.cursor",),
        "amp": (f"{home}/.config/amp", f"{home}/.local/share/amp"),
        "gemini": (f"{home}/.gemini",),
        "opencode": (f"{ground.config}/opencode", f"{home}/.local/share/opencode"),
        "copilot": (ground.copilot,),
        "pi": (ground.pi,),
        "goose": (f"{ground.config}/goose", f"{home}/.local/share/goose"),
    }
    path = environ.get("PATH", os.defpath)
    return tuple(
        harness
        for harness, places in directories.items()
        if any(map(os.path.isdir, places)) or any(shutil.which(each, path=path) for each in _PROGRAMS.get(harness, ()))
    )


def memory_program(environ: Mapping[str, str]) -> str | None:
    """The absolute path of the `memory` that is running: as it was called, else beside its interpreter, else on PATH. Links
    are kept: what an installer has linked there survives its updates."""
    called = os.path.abspath(sys.argv[0]) if sys.argv and os.path.basename(sys.argv[0]) in PROGRAM_NAMES else None
    beside = [f"{os.path.dirname(sys.executable)}/{name}" for name in PROGRAM_NAMES] if sys.executable else []
    on_path = shutil.which(PROGRAM_NAMES[0], path=environ.get("PATH", os.defpath))
    for candidate in (called, *beside, on_path):
        if candidate is not None and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return None
