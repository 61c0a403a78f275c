"""What our classes of values say of their attributes: the JSON key, the type, the default, and the facts in their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, frozen


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
