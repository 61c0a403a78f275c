"""From the JSON of a config to values and back with nothing guessed: no unknown key, no converted type, every problem with its path;
and the same classes as a JSON schema (draft 2020-12) and as rows of a table.

The keys are the camelCase of the attributes. An attribute's metadata may hold its meaning, bounds and checks (`agent_memory.config`
says which) and another `key`. Not by `json_codec`, which needs cattrs: every command reads the configuration, and importing
cattrs takes as long as starting Python twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, frozen, has

from agent_memory.domain.json_shape import is_list, is_object, is_row
from agent_memory.formats.strict_json import InvalidValue

T = TypeVar("T")
Facts = Mapping[str, Any]
"""The metadata of an attribute: meaning, bounds and checks."""


@frozen
class Attribute:
    """One attribute of a class."""

    name: str
    type: Any
    """With the names in it resolved."""
    facts: Facts
    is_required: bool
    default: Any
    """What an absent key stands for; None for a key that must be there."""


@cache
def attributes_of(cls: type) -> Mapping[str, Attribute]:
    """The attributes of a class of values by their JSON keys: `key` in the metadata, else the camelCase of the name."""
    types = get_type_hints(cls)
    attributes: dict[str, Attribute] = {}
    for each in fields(cls):
        facts: Facts = each.metadata
        is_required = each.default is NOTHING
        default = each.default.factory() if hasattr(each.default, "factory") else None if is_required else each.default
        head, *rest = each.name.split("_")
        key = facts.get("key", head + "".join(part.capitalize() for part in rest))
        attributes[key] = Attribute(each.name, types[each.name], facts, is_required, default)
    return attributes


def _options_of(type_: Any) -> tuple[Any, ...]:
    """The members of a union, `NoneType` among them; of any other type that type alone."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def value_of(document: object, cls: type[T]) -> T:
    """The value of a class of values; InvalidValue with every problem as `path.to.key: what is wrong`."""
    reader = _Reader([])
    value: T = reader.read(document, cls, {}, "")
    if reader.problems:
        raise InvalidValue(*reader.problems)
    return value


def document_of(value: Any) -> Any:
    """The JSON values that `value_of` reads back as this value."""
    cls = value.__class__
    if has(cls):
        return {key: document_of(getattr(value, each.name)) for key, each in attributes_of(cls).items()}
    if is_row(value):
        return [document_of(each) for each in value]
    if is_object(value):
        return {key: document_of(each) for key, each in value.items()}
    return value


# -- reading ----------------------------------------------------------------------------------------------------------

_EXPECTED: Mapping[Any, str] = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}


@frozen
class _Reader:
    """Reads on after a problem: what it returns is a value only where there was none."""

    problems: list[str]

    def read(self, value: Any, type_: Any, facts: Facts, path: str) -> Any:
        option = _option_for(value, _options_of(type_))
        if option is NoneType:
            return None
        if has(option):
            return self._instance(value, option, path) if self._is(is_object(value), "an object", value, path) else None
        origin, arguments = get_origin(option), get_args(option)
        if origin is tuple:
            return (
                self._row(value, arguments[0], facts, path) if self._is(is_list(value), "a list", value, path) else None
            )
        if origin is dict:
            found = self._is(is_object(value), "an object", value, path)
            return self._mapping(value, arguments[1], facts, path) if found else None
        if origin is Literal:
            expected = " or ".join(f'"{choice}"' for choice in arguments)
            fits = isinstance(value, str) and value in arguments
        else:
            expected = _EXPECTED[option]
            fits = type(value) is option or (option is float and type(value) is int)
        if self._is(fits, expected, value, path) and (problem := _bound_problem(value, facts)):
            self.refuse(path, problem)
        return value

    def refuse(self, path: str, problem: str) -> None:
        self.problems.append(f"{path}: {problem}" if path else problem)

    def _is(self, fits: bool, expected: str, value: object, path: str) -> bool:
        if not fits:
            self.refuse(path, f"must be {expected}, not {_described(value)}")
        return fits

    def _instance(self, value: Mapping[str, Any], cls: type, path: str) -> Any:
        known, before = attributes_of(cls), len(self.problems)
        members: dict[str, Any] = {}
        for key, each in value.items():
            if key in known:
                members[known[key].name] = self.read(each, known[key].type, known[key].facts, _join(path, key))
            else:
                self.refuse(_join(path, _shown_key(key)), _unknown(key, known, path))
        for key, attribute in known.items():
            if attribute.is_required and key not in value:
                self.refuse(_join(path, key), "is missing")
        return cls(**members) if len(self.problems) == before else None

    def _row(self, value: list[Any], element: Any, facts: Facts, path: str) -> tuple[Any, ...]:
        if len(value) < facts.get("least_items", 0):
            self.refuse(path, "must not be empty")
        return tuple(self.read(each, element, facts, f"{path}[{index}]") for index, each in enumerate(value))

    def _mapping(self, value: Mapping[str, Any], element: Any, facts: Facts, path: str) -> dict[str, Any]:
        check = facts.get("check_name")
        inner = {**facts, "check_name": facts["check_inner_name"]} if "check_inner_name" in facts else facts
        members: dict[str, Any] = {}
        for key, each in value.items():
            where = _join(path, _shown_key(key))
            if problem := check(key) if check else None:
                self.refuse(where, f"the name {problem}")
            members[key] = self.read(each, element, inner, where)
        return members


def _option_for(value: object, options: tuple[Any, ...]) -> Any:
    """The member of the union that a value is meant as; one that it is not, where it is meant as none."""
    if value is None and NoneType in options:
        return NoneType
    return next(
        (each for each in options if isinstance(value, str) == (each is str) and each is not NoneType), options[0]
    )


def _bound_problem(value: Any, facts: Facts) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if "least" in facts and value < facts["least"]:
        return f"must be at least {facts['least']:,}"
    if "above" in facts and value <= facts["above"]:
        return f"must be more than {facts['above']:,}"
    if "most" in facts and value > facts["most"]:
        return f"must be at most {facts['most']:,}"
    problem: str | None = facts["check"](value) if "check" in facts else None
    return problem


def _described(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value:g}" if abs(value) < 10**15 else "a huge number"
        case str():
            return f'"{_shown_key(value)}"'
        case list():
            return "a list"
        case _:
            return "an object"


def _unknown(key: str, known: Mapping[str, object], path: str) -> str:
    import difflib

    close = difflib.get_close_matches(key.replace("_", "").lower(), {each.lower() for each in known}, 1, 0.7)
    meant = next((each for each in known if close and each.lower() == close[0]), None)
    return f"unknown, did you mean {_join(path, meant)}?" if meant else "unknown"


def _shown_key(key: str) -> str:
    shown = "".join(character if character.isprintable() else "?" for character in key[:60])
    return shown + "…" if len(key) > 60 else shown


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


# -- schema and table -------------------------------------------------------------------------------------------------

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
            yield where, _words(attribute.type), document_of(attribute.default), attribute.facts["meaning"]


def _schema(type_: Any, facts: Facts) -> dict[str, Any]:
    options = _options_of(type_)
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
    return schema | ({"default": document_of(attribute.default)} if has_default else {})


def _words(type_: Any) -> str:
    options = _options_of(type_)
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
