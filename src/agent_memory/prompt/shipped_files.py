"""What is installed of us: the program `memory`, and the files that are shipped with the code (`agent_memory/prompts/` in an
installed package, `prompts/` in a source checkout)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from agent_memory.errors import ConfigInvalid
from agent_memory.files.paths import lies_there, store_io
from agent_memory.results import as_result

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE, _PACKAGE.parent.parent)
_PROGRAM_NAMES = ("memory", "agent-memory")


def _path_of(name: str) -> Path:
    """Returns the file in the first place that has it; where none has, in the first."""
    for path in (place / name for place in _PLACES):
        try:
            if lies_there(str(path)):
                return path
        except OSError:
            return path  # whoever reads it is told why it cannot be
    return _PLACES[0] / name


def read_shipped(name: str) -> str:
    """Returns the text of a shipped file (`prompts/defrag.md`). An error where it is nowhere, unreadable, or not UTF-8."""
    path = _path_of(name)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise store_io(error, "read", str(path)) from None
    except UnicodeDecodeError:
        raise ConfigInvalid(str(path), ("it is not UTF-8",)) from None


@as_result
def load_prompt_template(name: Literal["consolidate", "defrag"]) -> str:
    """Returns the text of a template. Errors: it is nowhere, unreadable, a `{{place}}` missing or unknown."""
    from agent_memory.prompt.prompt import PLACES, template_problems

    template = read_shipped(f"prompts/{name}.md")
    problems = template_problems(template, PLACES[name])
    if problems:
        raise ConfigInvalid(str(_path_of(f"prompts/{name}.md")), problems)
    return template


def memory_program(environ: Mapping[str, str]) -> str | None:
    """Returns the absolute path of the `memory` that is running: as it was called, else beside its interpreter, else on PATH.
    Links are kept: what an installer has linked there survives its updates."""
    called = os.path.abspath(sys.argv[0]) if sys.argv and os.path.basename(sys.argv[0]) in _PROGRAM_NAMES else None
    beside = [f"{os.path.dirname(sys.executable)}/{name}" for name in _PROGRAM_NAMES] if sys.executable else []
    on_path = shutil.which(_PROGRAM_NAMES[0], path=environ.get("PATH", os.defpath))
    for candidate in (called, *beside, on_path):
        if candidate is not None and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return None
