"""The files of a repository that take memory's section, and what a person should know before."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agent_memory.adapters.disk.paths import FileImage, read_file
from agent_memory.adapters.git.committed import tracking_of

_MAX_BYTES = 4 << 20
_SHARED = "AGENTS.md"
_OWN = {"claude-code": ("CLAUDE.md", ".claude/CLAUDE.md"), "gemini": ("GEMINI.md",)}
"""Harnesses that read a file of their own, and not the one that all others read; the first that is there, else the first."""


def repository_targets(top: str, harnesses: Sequence[str]) -> tuple[str, ...]:
    """The files that these harnesses read in a work tree, each once. One that is or imports AGENTS.md is read as that."""
    return tuple(dict.fromkeys(_read_by(top, each) for each in harnesses or ("",)))


def tracking_note(top: str, path: str, environ: Mapping[str, str]) -> str:
    """Whether git tracks the file, in a sentence."""
    match tracking_of(top, path, environ):
        case "tracked":
            return f"Git tracks {path}: whoever gets your commits gets the section, with this repository's notes."
        case "ignored":
            return f"Git ignores {path}: the section stays on this machine, and shows what is global, too."
        case "new":
            return f"Git does not track {path} yet: once it is added, whoever gets your commits gets the section."


def _read_by(top: str, harness: str) -> str:
    shared = f"{top}/{_SHARED}"
    own = [f"{top}/{name}" for name in _OWN.get(harness, ())]
    for path in own:
        found = read_file(os.path.realpath(path), _MAX_BYTES).value_or(None)
        if isinstance(found, FileImage):
            imports = any(
                line.strip() in (b"@AGENTS.md", b"@./AGENTS.md", b"@../AGENTS.md") for line in found.data.split(b"\n")
            )
            return shared if imports or os.path.realpath(path) == os.path.realpath(shared) else path
    return own[0] if own else shared
