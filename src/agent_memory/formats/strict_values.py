"""From JSON to attrs values with nothing guessed: no unknown key, no converted type, every problem with its path.

The keys are the camelCase of the attributes. An attribute's metadata may hold bounds and checks (`agent_memory.config` says
which) and another `key`. The problems are found first, since cattrs by itself stops at each class, makes `'[]'` of `[]`, True of `"no"` and
a tuple of letters of a string.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_list, is_object

T = TypeVar("T")


def value_of(document: object, cls: type[T]) -> Result[T, tuple[str, ...]]:
    """The value of an attrs class, or every problem as `path.to.key: what is wrong`."""
    problems = tuple(_problems(document, cls, {}, ""))
    return Failure(problems) if problems else Success(_converter.structure(document, cls))


def document_of(value: Any) -> Any:
    """The JSON values that `value_of` reads back as this value."""
    return _converter.unstructure(value)


def camel_case(name: str) -> str:
    """`maxCallsPerDay` of `max_calls_per_day`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def attributes_of(cls: type) -> Mapping[str, attrs.Attribute[Any]]:
    """The attributes of an attrs class by their JSON keys, their types resolved."""
    return {_key_of(each): each for each in attrs.fields(attrs.resolve_types(cls))}


def _key_of(attribute: attrs.Attribute[Any]) -> str:
    key: str = attribute.metadata.get("key", camel_case(attribute.name))
    return key


def options_of(type_: Any) -> tuple[Any, ...]:
    """The members of a union, `NoneType` among them; of any other type that type alone."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def _problems(value: object, type_: Any, facts: Mapping[str, Any], path: str) -> Iterator[str]:
    option = _option_for(value, options_of(type_))
    if option is NoneType:
        return
    if attrs.has(option):
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
            yield from _problems(each, known[key].type, known[key].metadata, _join(path, key))
        else:
            yield _at(_join(path, _shown_key(key)), _unknown(key, known, path))
    for key, attribute in known.items():
        if attribute.default is attrs.NOTHING and key not in value:
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


def _make_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)

    def structure(cls: Any) -> Any:
        return make_dict_structure_fn(cls, converter, **_renamed(cls))

    def unstructure(cls: Any) -> Any:
        return make_dict_unstructure_fn(cls, converter, **_renamed(cls))

    def structure_union(value: Any, union: Any) -> Any:
        option = _option_for(value, options_of(union))
        return None if option is NoneType else converter.structure(value, option)

    converter.register_structure_hook_factory(attrs.has, structure)
    converter.register_unstructure_hook_factory(attrs.has, unstructure)
    converter.register_structure_hook_func(lambda type_: len(options_of(type_)) > 1, structure_union)
    converter.register_unstructure_hook(tuple, list)
    for scalar in (str, bool, int, float):  # checked already: nothing is to be converted
        converter.register_structure_hook(scalar, lambda value, _: value)
    return converter


def _renamed(cls: Any) -> Any:
    return {attribute.name: override(rename=key) for key, attribute in attributes_of(cls).items()}


_converter = _make_converter()
