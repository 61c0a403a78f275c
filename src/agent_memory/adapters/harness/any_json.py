"""Values of any shape, as they come from a harness: what is not of the expected kind reads as empty."""

from __future__ import annotations

from collections.abc import Mapping


def text_at(value: Mapping[str, object], *keys: str) -> str:
    """The first of these members that is a text, empty texts passed over; empty where none is."""
    return next((text for key in keys if isinstance(text := value.get(key), str) and text), "")


def mapping_at(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The member if it is an object, else an empty one."""
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def list_at(value: Mapping[str, object], key: str) -> list[object]:
    """The member if it is a list, else an empty one."""
    inner = value.get(key)
    return inner if isinstance(inner, list) else []


def objects_at(value: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """The objects in a member that is a list."""
    return [each for each in list_at(value, key) if isinstance(each, dict)]
