"""The installed program `memory`, and the files shipped with the code (in `agent_memory/prompts/` of an installed
package, in `prompts/` of a source checkout)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_memory.files.paths import store_io

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE, _PACKAGE.parent.parent)
_PROGRAM_NAMES = ("memory", "agent-memory")


def read_shipped(name: str) -> str:
    """Returns the text of a shipped file (`prompts/defrag.md`); raises StoreIo if it is missing or unreadable."""
    try:
        found = (place / name for place in _PLACES if (place / name).is_file())
        return next(found, _PLACES[0] / name).read_text("utf-8")
    except OSError as error:
        raise store_io(error, "read", str(error.filename or name)) from None


def memory_program(environ: Mapping[str, str]) -> str | None:
    """Returns the absolute path of the running `memory`: as it was called, else beside its interpreter, else on PATH.
    Links are not resolved: they survive an installer's updates."""
    import shutil  # loads every compressor there is

    called = os.path.abspath(sys.argv[0]) if sys.argv and os.path.basename(sys.argv[0]) in _PROGRAM_NAMES else None
    beside = [f"{os.path.dirname(sys.executable)}/{name}" for name in _PROGRAM_NAMES] if sys.executable else []
    on_path = shutil.which(_PROGRAM_NAMES[0], path=environ.get("PATH", os.defpath))
    for candidate in (called, *beside, on_path):
        if candidate is not None and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return None
