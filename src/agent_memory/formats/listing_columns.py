"""One field of many values, as few objects of Python's marshal: what recurs is written once, with the place of each.

To read a column back costs about as much as to make a list of it; to read as many rows one after the other, several times that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any

Column = tuple[Any, ...]
"""`(values,)`, or `(different values, for each the place of its value among them)`: one byte each."""

_MOST_DIFFERENT = 256
"""A place is one byte."""


def packed_column(values: Sequence[Any]) -> Column:
    """The column of these values, which can be hashed. Those that are equal and of one class come back as one object where
    they are few."""
    different: dict[tuple[type, Any], int] = {}
    places = bytearray()
    for value in values:
        place = different.setdefault((value.__class__, value), len(different))
        if place == _MOST_DIFFERENT:
            return (list(values),)
        places.append(place)
    return [value for _, value in different], bytes(places)


def unpacked_column(column: Column, count: int, made: Callable[[Any], Any] | None = None) -> Iterable[Any]:
    """The `count` values. `made` makes each value of what was packed; of values that recur it is asked once."""
    values: Iterable[Any] = column[0] if made is None else map(made, column[0])
    if len(column) == 1:
        return values
    different = list(values)
    return repeat(different[0], count) if len(different) == 1 else map(different.__getitem__, column[1])


def packed_groups(groups: Sequence[Sequence[Any]]) -> tuple[Column, list[Any]]:
    """How many there are in each group, and all of them."""
    return packed_column([len(group) for group in groups]), [each for group in groups for each in group]


def unpacked_groups(lengths: Column, count: int, members: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    """The `count` groups."""
    if len(lengths) == 2 and lengths[0] == [1]:
        return zip(members, strict=True)  # one in each, as nearly always
    return _sliced(unpacked_column(lengths, count), iter(members))


def _sliced(lengths: Iterable[int], members: Iterator[Any]) -> Iterator[tuple[Any, ...]]:
    for length in lengths:
        yield tuple(islice(members, length)) if length else ()
