"""The prompt templates, from `prompts/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agent_memory.adapters.surroundings.shipped_files import Places, places_of, read_shipped, shipped_path
from agent_memory.errors import ConfigInvalid
from agent_memory.formats import defrag_prompt, prompt
from agent_memory.formats.prompt_frame import template_problems
from agent_memory.results import as_result

TemplateName = Literal["consolidate", "defrag"]

_PLACES_IN: Mapping[TemplateName, tuple[str, ...]] = {"consolidate": prompt.PLACES, "defrag": defrag_prompt.PLACES}

_PLACES = places_of("prompts")


@as_result
def load_prompt_template(name: TemplateName, places: Places = _PLACES) -> str:
    """The text of a template from the first place that has it. Errors: no place has it, unreadable, a `{{place}}` missing or
    unknown."""
    template = read_shipped(f"{name}.md", places)
    problems = template_problems(template, _PLACES_IN[name])
    if problems:
        raise ConfigInvalid(str(shipped_path(f"{name}.md", places)), problems)
    return template
