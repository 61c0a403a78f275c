"""The prompt templates: `agent_memory/prompts/` in an installed package, `prompts/` in a source checkout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from returns.result import Failure, Result, Success

import agent_memory
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.errors import ConfigInvalid, Error
from agent_memory.formats import defrag_prompt, prompt
from agent_memory.formats.prompt_frame import template_problems

TemplateName = Literal["consolidate", "defrag"]

_PLACES_IN: Mapping[TemplateName, tuple[str, ...]] = {"consolidate": prompt.PLACES, "defrag": defrag_prompt.PLACES}

_PACKAGE = Path(agent_memory.__file__).parent
_PLACES = (_PACKAGE / "prompts", _PACKAGE.parent.parent / "prompts")


def load_prompt_template(name: TemplateName, places: tuple[Path, ...] = _PLACES) -> Result[str, Error]:
    """The text of a template from the first place that has it. Errors: no place has it, unreadable, a `{{place}}` missing or
    unknown."""
    path = next(
        (place / f"{name}.md" for place in places if (place / f"{name}.md").is_file()), places[0] / f"{name}.md"
    )
    try:
        template = path.read_text(encoding="utf-8")
    except OSError as error:
        return Failure(store_io(error, "read", str(path)))
    except UnicodeDecodeError:
        return Failure(ConfigInvalid(str(path), ("it is not UTF-8",)))
    problems = template_problems(template, _PLACES_IN[name])
    return Failure(ConfigInvalid(str(path), problems)) if problems else Success(template)
