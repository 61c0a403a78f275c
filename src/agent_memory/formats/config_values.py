"""The classes of the configuration as a JSON schema (draft 2020-12) and as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from attrs import has

from agent_memory.formats.json_codec import Attribute, Facts, attributes_of, options_of, written

_NAMES: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}
_BOUNDS = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum"}


def schema_document(cls: type, title: str) -> dict[str, Any]:
    """The schema, with a `$schema` key allowed at the top."""
    schema = _schema(cls, {})
    schema["properties"] = {"$schema": {"type": "string"}, **schema["properties"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def key_rows(cls: type, path: str = "") -> Iterator[tuple[str, str, Any, str]]:
    """For every key that holds no section: dotted key, type in words, default, meaning."""
    for key, attribute in attributes_of(cls).items():
        where = f"{path}{key}"
        if has(attribute.type):
            yield from key_rows(attribute.type, f"{where}.")
        else:
            yield where, _words(attribute.type), written(attribute.default), attribute.facts["meaning"]


def _schema(type_: Any, facts: Facts) -> dict[str, Any]:
    options = options_of(type_)
    if len(options) > 1:
        return {"anyOf": [_schema(option, facts) for option in options]}
    if has(type_):
        attributes = attributes_of(type_)
        properties = {key: _property(attribute) for key, attribute in attributes.items()}
        required = [key for key, attribute in attributes.items() if attribute.is_required]
        schema = {"type": "object", "additionalProperties": False, "properties": properties}
        return schema | ({"required": required} if required else {})
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        items = {"type": "array", "items": _schema(arguments[0], facts)}
        return items | ({"minItems": facts["least_items"]} if "least_items" in facts else {})
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], facts)}
    bounds = {_BOUNDS[each]: facts[each] for each in _BOUNDS if type_ in (int, float) and each in facts}
    return {"type": _NAMES[type_]} | bounds


def _property(attribute: Attribute) -> dict[str, Any]:
    schema = {"description": attribute.facts["meaning"], **_schema(attribute.type, attribute.facts)}
    has_default = not (attribute.is_required or has(attribute.type))
    return schema | ({"default": written(attribute.default)} if has_default else {})


def _words(type_: Any) -> str:
    options = options_of(type_)
    if len(options) > 1:
        return " or ".join(_words(option) for option in options)
    if has(type_):
        return "`{" + ", ".join(attributes_of(type_)) + "}`"
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Literal:
        return " or ".join(f'`"{choice}"`' for choice in arguments)
    if origin is tuple:
        return f"list of {_words(arguments[0])}"
    return f"object of {_words(arguments[1])}" if origin is dict else _NAMES[type_]
