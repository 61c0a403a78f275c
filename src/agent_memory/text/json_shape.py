"""Which shape a value of JSON has, in types too: `isinstance` leaves open what an object or a list holds. Free of imports,
since hooks ask as well; and the base of the values that these have."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, dataclass_transform

    from typing_extensions import TypeIs
else:

    def dataclass_transform():
        return lambda made: made


Json: "TypeAlias" = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def is_object(value: object) -> "TypeIs[dict[str, Any]]":
    """Returns whether it is an object. JSON makes its keys texts; what it holds is for the reader to look at."""
    return isinstance(value, dict)


def is_list(value: object) -> "TypeIs[list[Any]]":
    """Returns whether it is a list."""
    return isinstance(value, list)


def is_row(value: object) -> "TypeIs[list[Any] | tuple[Any, ...]]":
    """Returns whether it is what becomes a list when it is written."""
    return isinstance(value, (list, tuple))


@dataclass_transform()
class Record:
    """A value made of what its class declares, in that order, with defaults; as attrs makes one, which takes long to load."""

    def __init__(self, *values: "Any", **named: "Any") -> None:
        for name, value in (*zip(type(self).__annotations__, values, strict=False), *named.items()):
            setattr(self, name, value)
