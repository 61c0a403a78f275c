"""The JSON schema of a config file, made of the classes of `agent_memory.config`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from attrs import has

from agent_memory.config import Config
from agent_memory.text.json_codec import Facts, attributes_of, options_of, written


def config_schema_text() -> str:
    """The JSON schema (draft 2020-12) of a config file, with a `$schema` key allowed at the top."""
    schema = _schema(Config, {})
    schema["properties"] = {"$schema": {"type": "string"}, **schema["properties"]}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps({"$schema": draft, "title": "agent-memory configuration", **schema}, indent=2) + "\n"


_NAMES: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}
_BOUNDS = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum"}


def _schema(type_: Any, facts: Facts) -> dict[str, Any]:
    options = options_of(type_)
    if len(options) > 1:
        return {"anyOf": [_schema(option, facts) for option in options]}
    if has(type_):
        attributes = attributes_of(type_)
        properties: dict[str, Any] = {}
        for key, each in attributes.items():
            properties[key] = {"description": each.facts["meaning"], **_schema(each.type, each.facts)}
            if not (each.is_required or has(each.type)):
                properties[key]["default"] = written(each.default)
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
