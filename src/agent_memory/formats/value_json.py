"""Values of runs as JSON: each field by its name, each member of a union with the name of its class."""

from __future__ import annotations

from typing import Any

from cattrs.preconf.json import make_converter
from cattrs.strategies import configure_tagged_union

from agent_memory.domain.actions import Archive, Edit, Merge, Rename, Retag, Split
from agent_memory.domain.change import Create, Replace, Restore, Retire
from agent_memory.domain.inbox_entry import AmpThread, FileSnapshot, InlineNote, SessionFile

converter = make_converter()
"""For what this version itself has written: unknown keys are ignored, wrong types are errors."""


def _number(value: Any, _: type) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{type(value).__name__} is no number")
    return float(value)


converter.register_structure_hook(float, _number)
configure_tagged_union(Create | Replace | Retire | Restore, converter, tag_name="change")
configure_tagged_union(SessionFile | AmpThread | FileSnapshot | InlineNote, converter, tag_name="class")
configure_tagged_union(Merge | Split | Rename | Retag | Edit | Archive, converter, tag_name="action")
