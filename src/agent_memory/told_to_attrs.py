"""Classes of values as attrs describes its own: loaded where somebody asks, since attrs takes long to load."""

from __future__ import annotations

from typing import Any

import attrs

from agent_memory.light_classes import described_fields
from agent_memory.light_methods import FIELDS, Field


def told(cls: Any) -> Any:
    """What `attrs.fields` says of a class."""
    types: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        types.update(base.__annotations__ if FIELDS in base.__dict__ else {})
    fields = {name: _field(each, types[name]) for name, each in described_fields(cls).items()}
    return attrs.fields(attrs.make_class(cls.__name__, fields))


def _field(each: Field, type_: Any) -> Any:
    default = each.default if each.has_default() else attrs.NOTHING
    if each.factory is not None:
        default = attrs.Factory(each.factory)
    return attrs.field(default=default, metadata=each.metadata, repr=each.is_shown, type=type_)
