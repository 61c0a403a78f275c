"""Files that are shipped with the code: `agent_memory/prompts/` in an installed package, `prompts/` in a source checkout."""

from __future__ import annotations

from pathlib import Path

import agent_memory
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.errors import ConfigInvalid

_PACKAGE = Path(agent_memory.__file__).parent
Places = tuple[Path, ...]


def places_of(folder: str) -> Places:
    """Where a folder that is shipped can be."""
    return (_PACKAGE / folder, _PACKAGE.parent.parent / folder)


def shipped_path(name: str, places: Places) -> Path:
    """The file in the first place that has it; where none has, in the first."""
    return next((place / name for place in places if _may_be_there(place / name)), places[0] / name)


def _may_be_there(path: Path) -> bool:
    try:
        return lies_there(str(path))
    except OSError:
        return True  # whoever reads it is told why it cannot be


def read_shipped(name: str, places: Places) -> str:
    """Its text. An error where no place has it, it is unreadable, or not UTF-8."""
    path = shipped_path(name, places)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise store_io(error, "read", str(path)) from None
    except UnicodeDecodeError:
        raise ConfigInvalid(str(path), ("it is not UTF-8",)) from None
