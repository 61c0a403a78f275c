"""State on disk: `state/keys/<key>.json`, one file a key, each replaced as a whole (P2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, inside, read_file, real_root
from agent_memory.domain.state_value import StateValue
from agent_memory.domain.text.slug import slug_of
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.state_value_json import parse_state_value, render_state_value
from agent_memory.results import sealed

KEYS = "state/keys"
"""A directory of its own: no key can be taken for a file of ours in `state/`."""

_ENDING = ".json"
_MAX_BYTES = 4 << 20


class StateKeysFiles:
    """`StateKeys` in the directory `state/keys` of a root."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    def get(self, key: str) -> Result[StateValue | None, Error]:
        """See the port."""
        path = path_of(key)

        def of_this_key(found: StateValue | None) -> Result[StateValue | None, Error]:
            if found is None or found.key == key:
                return Success(found)
            return Failure(StateCorrupt(f"{self._root}/{path}", (f"it holds the key {found.key}",)))

        return self._read(path, key).bind(of_this_key)

    def put(self, value: StateValue) -> Result[str, Error]:
        """See the port."""
        path = path_of(value.key)
        return put_file(self._root, path, render_state_value(value)).map(lambda _: path)

    def delete(self, key: str) -> Result[str, Error]:
        """See the port."""
        path = path_of(key)
        return inside(self._root, path).bind(lambda _: drop_file(self._root, path)).map(lambda _: path)

    def all(self) -> Iterator[Result[StateValue, Error]]:
        """See the port."""
        match sealed(names_inside(self._root, KEYS, _is_value)):
            case Failure(refused):
                yield Failure(refused)
            case Success(names):
                for name in names:
                    match sealed(self._read(f"{KEYS}/{name}", name.removesuffix(_ENDING))):
                        case Failure(error):
                            yield Failure(error)
                        case Success(found):
                            if found is not None:  # None: it was deleted since it was listed
                                yield Success(found)

    def _read(self, path: str, key: str) -> Result[StateValue | None, Error]:
        def parsed(image: FileImage | None) -> Result[StateValue | None, Error]:
            if image is None:
                return Success(None)
            return parse_state_value(image.data, f"{self._root}/{path}", key).map(_or_none)

        return inside(self._root, path).bind(lambda absolute: read_file(absolute, _MAX_BYTES)).bind(parsed)


def path_of(key: str) -> str:
    """Where the value of a key is kept, relative to the root."""
    return f"{KEYS}/{slug_of(key)}{_ENDING}"


def _is_value(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")


def _or_none(value: StateValue) -> StateValue | None:
    return value
