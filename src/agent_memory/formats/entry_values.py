"""Entries in the value of a document, whatever the document is written in."""

from __future__ import annotations

import copy
from typing import Any

from agent_memory.domain.installing.wanted import Element, Member
from agent_memory.domain.json_shape import is_list, is_object

Spot = Element | Member

BY_HAND = "it could not be edited without touching the rest"


class EditRefused(Exception):
    """A document that cannot be read or edited; the text says why, for the person."""


NOTHING = object()
"""What stands where nothing does."""


def holds(value: Any, entry: Spot) -> bool:
    """Whether a document with this value has the entry, by whomever it was put there."""
    node = at_keys(value, entry.keys)
    if isinstance(entry, Member):
        return node is not NOTHING and (entry.optional or node == entry.value)
    if not is_list(node):
        return False
    return any(each == entry.value or (entry.mark != "" and says(each, entry.mark)) for each in node)


def has(value: Any, entry: Spot) -> bool:
    """Whether what was put in is there, and as it was put in."""
    node = at_keys(value, entry.keys)
    if isinstance(entry, Member):
        return bool(node == entry.value)
    return is_list(node) and entry.value in node


def is_ours(value: Any, entry: Member) -> bool:
    """Whether what stands in the place of this member is ours, edited or not."""
    node = value_at(value, entry.keys)
    return node is not None and (node == entry.value or (entry.command is not None and says(node, entry.command)))


def is_occupied(value: Any, entry: Spot) -> bool:
    """Whether something else than this member stands in its place."""
    node = at_keys(value, entry.keys)
    return isinstance(entry, Member) and node is not NOTHING and not entry.optional and node != entry.value


def value_at(value: Any, keys: tuple[str, ...]) -> Any:
    """The value at these keys; None where there is none."""
    found = at_keys(value, keys)
    return None if found is NOTHING else found


def at_keys(value: Any, keys: tuple[str, ...]) -> Any:
    """The value at these keys, or NOTHING."""
    for key in keys:
        if not is_object(value) or key not in value:
            return NOTHING
        value = value[key]
    return value


def value_with(value: Any, entry: Spot) -> Any:
    """The value with the entry put in; lists and objects on the way are made."""
    result = copy.deepcopy(value)
    node = result
    for key in entry.keys[:-1]:
        node = node.setdefault(key, {})
    if isinstance(entry, Element):
        node.setdefault(entry.keys[-1], []).append(entry.value)
    else:
        node[entry.keys[-1]] = entry.value
    return result


def says(value: Any, text: str) -> bool:
    """Whether some text in a value holds this text."""
    if isinstance(value, str):
        return text in value
    each = value.values() if is_object(value) else value if is_list(value) else ()
    return any(says(part, text) for part in each)


def named(keys: tuple[str, ...]) -> str:
    """Keys as a person names them."""
    return ".".join(keys) if keys else "the document"


def line_end_of(text: str) -> str:
    """The line end that most lines of a text have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
