"""What is on this machine: harnesses, by their directories and programs, and the `memory` that is running."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from agent_memory.domain.installing.context import Context
from agent_memory.domain.installing.harnesses import SETUPS

PROGRAM_NAMES = ("memory", "agent-memory")


def detected(context: Context, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The harnesses that are here, in the order of their list."""
    path = environ.get("PATH", os.defpath)
    setups = {name: setup(context) for name, setup in SETUPS.items()}
    return tuple(
        name
        for name, setup in setups.items()
        if any(map(os.path.isdir, setup.directories)) or any(shutil.which(each, path=path) for each in setup.programs)
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
