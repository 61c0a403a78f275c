"""Which shape a value of JSON has, in types too: `isinstance` leaves open what an object or a list holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """Whether it is an object. JSON makes its keys texts; what it holds is for the reader to look at."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)
