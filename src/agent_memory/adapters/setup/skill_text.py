"""The text of our skill, from `skills/`."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.surroundings.shipped_files import Places, places_of, read_shipped, shipped_path
from agent_memory.errors import ConfigInvalid, Error

_NAME = "agent-memory/SKILL.md"
_PLACES = places_of("skills")


def load_skill_text(places: Places = _PLACES) -> Result[str, Error]:
    """The skill from the first place that has it. Errors: no place has it, unreadable, empty."""

    def not_empty(text: str) -> Result[str, Error]:
        path = shipped_path(_NAME, places)
        return Success(text) if text.strip() else Failure(ConfigInvalid(str(path), ("it is empty",)))

    return read_shipped(_NAME, places).bind(not_empty)
