"""The prompt templates, from `prompts/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from returns.result import Failure, Result, Success

from agent_memory.adapters.surroundings.shipped_files import Places, places_of, read_shipped, shipped_path
from agent_memory.errors import ConfigInvalid, Error
from agent_memory.formats import defrag_prompt, prompt
from agent_memory.formats.prompt_frame import template_problems

TemplateName = Literal["consolidate", "defrag"]

_PLACES_IN: Mapping[TemplateName, tuple[str, ...]] = {"consolidate": prompt.PLACES, "defrag": defrag_prompt.PLACES}

_PLACES = places_of("prompts")


def load_prompt_template(name: TemplateName, places: Places = _PLACES) -> Result[str, Error]:
    """The text of a template from the first place that has it. Errors: no place has it, unreadable, a `{{place}}` missing or
    unknown."""

    def whole(template: str) -> Result[str, Error]:
        problems = template_problems(template, _PLACES_IN[name])
        path = shipped_path(f"{name}.md", places)
        return Failure(ConfigInvalid(str(path), problems)) if problems else Success(template)

    return read_shipped(f"{name}.md", places).bind(whole)
