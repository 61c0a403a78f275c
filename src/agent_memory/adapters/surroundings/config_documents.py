"""What config files say: checked, merged key by key, taken apart into the keys that they set.

Apart from `config_files`, since every command looks for a config, and a home may have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from returns.result import Failure, Result, Success

from agent_memory.config import OPEN_SECTIONS, Config
from agent_memory.domain.json_shape import is_object
from agent_memory.errors import ConfigInvalid
from agent_memory.formats.described_attributes import attributes_of
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.formats.strict_values import value_of
from agent_memory.results import sealed

Document: TypeAlias = Mapping[str, Any]


def parse_config(content: bytes, path: str) -> Result[Document, ConfigInvalid]:
    """The keys that a config file sets, all known and all well formed; ConfigInvalid with every problem."""
    match sealed(parse_strict_json(content)):
        case Failure(problem):
            return Failure(ConfigInvalid(path, (problem,)))
        case Success(document):
            if not is_object(document):
                return Failure(ConfigInvalid(path, ("it must hold one object: { … }",)))
            document.pop("$schema", None)  # for editors
            return (
                value_of(document, Config).map(lambda _: document).alt(lambda problems: ConfigInvalid(path, problems))
            )


def closed_keys(document: Document) -> tuple[str, ...]:
    """The dotted keys in a config that only a trusted one may set."""
    return tuple(key for key in set_keys(document) if key.partition(".")[0] not in OPEN_SECTIONS)


def config_of(document: Document) -> Result[Config, tuple[str, ...]]:
    """The configuration with these keys set, or every problem."""
    return value_of(document, Config)


def merged(far: Document, near: Document, path: str = "") -> dict[str, Any]:
    """Both, the nearer winning."""
    result = dict(far)
    for key, value in near.items():
        where = f"{path}{key}"
        deeper = is_object(value) and is_object(result.get(key)) and _holds_keys(where)
        result[key] = merged(result[key], value, f"{where}.") if deeper else value
    return result


def set_keys(document: Document, path: str = "") -> Iterator[str]:
    """The dotted keys that a document sets, down to single presets and profiles."""
    for key, value in document.items():
        where = f"{path}{key}"
        if is_object(value) and _holds_keys(where):
            yield from set_keys(value, f"{where}.")
        else:
            yield where


def _holds_keys(where: str) -> bool:
    """Whether what stands here is merged key by key: a section, or an object of names of the person's own choice, like
    `llm.presets`. A single preset is taken whole."""
    section, _, key = where.partition(".")
    return not key or ("." not in key and is_object(attributes_of(attributes_of(Config)[section].type)[key].default))
