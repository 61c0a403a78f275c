"""The header of a safetensors file: eight bytes of length, then JSON that says where each tensor's numbers are.

Source: the format's specification, https://huggingface.co/docs/safetensors.
"""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.values import frozen

LENGTH_BYTES = 8
MOST_HEADER_BYTES = 1 << 20
"""Ours has about 90; the library itself refuses headers of over 100 MB."""
_FLOAT16_BYTES = 2


@frozen
class TensorPlace:
    """Where a table of little-endian 16-bit floats begins in the file, in bytes, and its shape."""

    start: int
    rows: int
    columns: int

    @property
    def row_bytes(self) -> int:
        """Size of one row."""
        return self.columns * _FLOAT16_BYTES

    @property
    def end(self) -> int:
        """The byte after the table."""
        return self.start + self.rows * self.row_bytes


def header_bytes(first: bytes) -> Result[int, str]:
    """How many bytes of header follow the first `LENGTH_BYTES`."""
    length = int.from_bytes(first, "little")
    if len(first) < LENGTH_BYTES or not 0 < length <= MOST_HEADER_BYTES:
        return Failure("it has no header")
    return Success(length)


def parse_table(header: bytes, name: str) -> Result[TensorPlace, str]:
    """The place of the 16-bit table of this name; else what is wrong with the file."""
    try:
        tensor = json.loads(header)[name]
        kind, (rows, columns), (start, end) = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Failure(f"its header names no table {name}")
    if kind != "F16" or not all(type(number) is int and number >= 0 for number in (rows, columns, start, end)):
        return Failure(f"its table {name} is not one of 16-bit floats")
    place = TensorPlace(LENGTH_BYTES + len(header) + start, rows, columns)
    if place.end != LENGTH_BYTES + len(header) + end or not rows or not columns:
        return Failure(f"the shape of its table {name} is not its size")
    return Success(place)
