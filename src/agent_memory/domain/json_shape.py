"""Which shape a value of JSON has, in types too: `isinstance` leaves open what an object or a list holds. Free of imports,
since hooks ask as well."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from typing_extensions import TypeIs

Json: "TypeAlias" = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""Any value of a JSON document."""


def is_object(value: object) -> "TypeIs[dict[str, Any]]":
    """Whether it is an object. JSON makes its keys texts; what it holds is for the reader to look at."""
    return isinstance(value, dict)


def is_list(value: object) -> "TypeIs[list[Any]]":
    """Whether it is a list."""
    return isinstance(value, list)


def is_row(value: object) -> "TypeIs[list[Any] | tuple[Any, ...]]":
    """Whether it is what becomes a list when it is written."""
    return isinstance(value, (list, tuple))
