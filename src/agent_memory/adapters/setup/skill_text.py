"""The text of our skill: `agent_memory/skills/` in an installed package, `skills/` in a source checkout."""

from __future__ import annotations

from pathlib import Path

from returns.result import Failure, Result, Success

import agent_memory
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.errors import ConfigInvalid, Error

_NAME = "agent-memory/SKILL.md"
_PACKAGE = Path(agent_memory.__file__).parent
_PLACES = (_PACKAGE / "skills", _PACKAGE.parent.parent / "skills")


def load_skill_text(places: tuple[Path, ...] = _PLACES) -> Result[str, Error]:
    """The skill from the first place that has it. Errors: no place has it, unreadable, empty."""
    path = next((place / _NAME for place in places if (place / _NAME).is_file()), places[0] / _NAME)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        return Failure(store_io(error, "read", str(path)))
    except UnicodeDecodeError:
        return Failure(ConfigInvalid(str(path), ("it is not UTF-8",)))
    return Success(text) if text.strip() else Failure(ConfigInvalid(str(path), ("it is empty",)))
