"""Tells the shapes of JSON values apart, for type checkers too: `isinstance` does not say what an object or a list
holds. Imports nothing, since hooks use it; also holds the base class of their values."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias, dataclass_transform

    from typing_extensions import TypeIs
else:

    def dataclass_transform():
        return lambda made: made


Json: "TypeAlias" = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def is_object(value: object) -> "TypeIs[dict[str, Any]]":
    """Returns whether the value is an object. JSON guarantees that its keys are text; the caller checks what it holds."""
    return isinstance(value, dict)


def is_list(value: object) -> "TypeIs[list[Any]]":
    return isinstance(value, list)


def is_row(value: object) -> "TypeIs[list[Any] | tuple[Any, ...]]":
    """Returns whether the value is written as a list."""
    return isinstance(value, (list, tuple))


@dataclass_transform()
class Record:
    """A value with the declared fields of its class, in order, with defaults; like attrs, which is slow to load."""

    def __init__(self, *values: "Any", **named: "Any") -> None:
        for name, value in (*zip(type(self).__annotations__, values, strict=False), *named.items()):
            setattr(self, name, value)

    def __iter__(self) -> "Iterator[Any]":
        """Yields the values of its fields, in their order."""
        return (getattr(self, name) for name in type(self).__annotations__)
