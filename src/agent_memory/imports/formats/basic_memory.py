"""basic-memory: directories of markdown, which its settings name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent_memory.errors import Error
from agent_memory.imports import base
from agent_memory.imports.formats.markdown import note_in
from agent_memory.text.json_shape import is_object


def _find(machine: base.Machine) -> Iterator[str]:
    config = f"{machine.home}/.basic-memory/config.json"
    try:
        projects = base.read_json(config).get("projects") if os.path.exists(config) else None
    except (Error, AttributeError):
        projects = None
    for each in projects.values() if is_object(projects) else ():
        path = each.get("path") if is_object(each) else each
        if isinstance(path, str):
            yield os.path.expanduser(path)
    yield f"{machine.home}/basic-memory"


SOURCE = base.Source("basic-memory", base.each_file(note_in), _find)
