"""From the JSON of a config to values and back with nothing guessed: no unknown key, no converted type, every problem with its path.

The keys are the camelCase of the attributes. An attribute's metadata may hold bounds and checks (`agent_memory.config` says
which) and another `key`. Not by `json_codec`, which needs cattrs: every command reads the configuration, and importing cattrs takes as
long as starting Python twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, frozen, has
from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_list, is_object, is_row

T = TypeVar("T")


@frozen
class Attribute:
    """One attribute of a class."""

    name: str
    type: Any
    """With the names in it resolved."""
    facts: Mapping[str, Any]
    """Its metadata: meaning, bounds and checks (`agent_memory.config` says which)."""
    is_required: bool
    default: Any
    """What an absent key stands for; None for a key that must be there."""


@cache
def attributes_of(cls: type) -> Mapping[str, Attribute]:
    """The attributes of a class of values by their JSON keys: `key` in the metadata, else the camelCase of the name."""
    types = get_type_hints(cls)
    attributes: dict[str, Attribute] = {}
    for each in fields(cls):
        facts: Mapping[str, Any] = each.metadata
        is_required = each.default is NOTHING
        default = each.default.factory() if hasattr(each.default, "factory") else None if is_required else each.default
        attributes[facts.get("key", camel_case(each.name))] = Attribute(
            each.name, types[each.name], facts, is_required, default
        )
    return attributes


def camel_case(name: str) -> str:
    """`maxCallsPerDay` of `max_calls_per_day`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def options_of(type_: Any) -> tuple[Any, ...]:
    """The members of a union, `NoneType` among them; of any other type that type alone."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def value_of(document: object, cls: type[T]) -> Result[T, tuple[str, ...]]:
    """The value of a class of values, or every problem as `path.to.key: what is wrong`."""
    problems = tuple(_problems(document, cls, {}, ""))
    if problems:
        return Failure(problems)
    value: T = _value(document, cls)
    return Success(value)


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


def _value(document: Any, type_: Any) -> Any:
    """Of a document in which no problem was found."""
    option = _option_for(document, options_of(type_))
    if has(option):
        known = attributes_of(option)
        return option(**{known[key].name: _value(each, known[key].type) for key, each in document.items()})
    origin = get_origin(option)
    if origin is tuple:
        return tuple(_value(each, get_args(option)[0]) for each in document)
    if origin is dict:
        return {key: _value(each, get_args(option)[1]) for key, each in document.items()}
    return document


def _problems(value: object, type_: Any, facts: Mapping[str, Any], path: str) -> Iterator[str]:
    option = _option_for(value, options_of(type_))
    if option is NoneType:
        return
    if has(option):
        yield from _attribute_problems(value, option, path)
        return
    match get_origin(option):
        case origin if origin is tuple:
            yield from _list_problems(value, get_args(option)[0], facts, path)
        case origin if origin is dict:
            yield from _object_problems(value, get_args(option)[1], facts, path)
        case _:
            if problem := _scalar_problem(value, option) or _bound_problem(value, facts):
                yield _at(path, problem)


def _option_for(value: object, options: tuple[Any, ...]) -> Any:
    """The member of the union that a value is meant as; one that it is not, where it is meant as none."""
    if value is None and NoneType in options:
        return NoneType
    return next(
        (each for each in options if isinstance(value, str) == (each is str) and each is not NoneType), options[0]
    )


def _attribute_problems(value: object, cls: type, path: str) -> Iterator[str]:
    if not is_object(value):
        yield _at(path, _must_be("an object", value))
        return
    known = attributes_of(cls)
    for key, each in value.items():
        if key in known:
            yield from _problems(each, known[key].type, known[key].facts, _join(path, key))
        else:
            yield _at(_join(path, _shown_key(key)), _unknown(key, known, path))
    for key, attribute in known.items():
        if attribute.is_required and key not in value:
            yield _at(_join(path, key), "is missing")


def _list_problems(value: object, element: Any, facts: Mapping[str, Any], path: str) -> Iterator[str]:
    if not is_list(value):
        yield _at(path, _must_be("a list", value))
        return
    if len(value) < facts.get("least_items", 0):
        yield _at(path, "must not be empty")
    for index, each in enumerate(value):
        yield from _problems(each, element, facts, f"{path}[{index}]")


def _object_problems(value: object, element: Any, facts: Mapping[str, Any], path: str) -> Iterator[str]:
    if not is_object(value):
        yield _at(path, _must_be("an object", value))
        return
    check = facts.get("check_name")
    inner = {**facts, "check_name": facts["check_inner_name"]} if "check_inner_name" in facts else facts
    for key, each in value.items():
        where = _join(path, _shown_key(key))
        if problem := check(key) if check else None:
            yield _at(where, f"the name {problem}")
        yield from _problems(each, element, inner, where)


_EXPECTED: Mapping[Any, str] = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}


def _scalar_problem(value: object, type_: Any) -> str | None:
    if get_origin(type_) is Literal:
        choices = get_args(type_)
        expected = " or ".join(f'"{choice}"' for choice in choices)
        return None if isinstance(value, str) and value in choices else _must_be(expected, value)
    fits = type(value) is type_ or (type_ is float and type(value) is int)
    return None if fits else _must_be(_EXPECTED[type_], value)


def _bound_problem(value: Any, facts: Mapping[str, Any]) -> str | None:
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


def _must_be(expected: str, value: object) -> str:
    return f"must be {expected}, not {_described(value)}"


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


def _at(path: str, problem: str) -> str:
    return f"{path}: {problem}" if path else problem
