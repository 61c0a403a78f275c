"""A table of 16-bit floats in a safetensors file, read row by row or whole."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Mapping

from returns.result import Failure, Result, Success

from agent_memory.formats.tensor_file import LENGTH_BYTES, TensorPlace, header_bytes, parse_table
from agent_memory.values import frozen

_TABLE = "embedding.weight"
_SAMPLE_BYTES = 1 << 16


@frozen
class WeightTable:
    """The table, opened for each reading. It is not mapped: a file cut short under a map ends the process."""

    path: str
    place: TensorPlace
    checksum: str
    """Of the header and the first rows, 8 hex digits: tells one model's file from another's."""

    def rows(self, numbers: Iterable[int]) -> Mapping[int, tuple[float, ...]]:
        """The rows of these numbers. OSError where the file cannot be read any more."""
        unpack = struct.Struct(f"<{self.place.columns}e").unpack
        with open(self.path, "rb", buffering=0) as file:
            return {number: unpack(self._bytes(file.fileno(), number, 1)) for number in set(numbers)}

    def joined(self, numbers: Iterable[int]) -> bytes:
        """The rows of these numbers, one after the other. OSError where the file cannot be read any more."""
        with open(self.path, "rb", buffering=0) as file:
            return b"".join([self._bytes(file.fileno(), number, 1) for number in numbers])

    def whole(self) -> bytes:
        """All rows. OSError where the file cannot be read any more."""
        with open(self.path, "rb", buffering=0) as file:
            return self._bytes(file.fileno(), 0, self.place.rows)

    def _bytes(self, fd: int, first: int, rows: int) -> bytes:
        wanted = rows * self.place.row_bytes
        found = os.pread(fd, wanted, self.place.start + first * self.place.row_bytes)
        if len(found) != wanted:
            raise OSError(None, "the file has become shorter", self.path)
        return found


def open_weight_table(path: str) -> Result[WeightTable, str]:
    """The table in the file; else what is wrong with the file."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            sample = os.pread(file.fileno(), _SAMPLE_BYTES, 0)
            header = header_bytes(sample[:LENGTH_BYTES]).map(
                lambda length: os.pread(file.fileno(), length, LENGTH_BYTES)
            )
    except OSError as error:
        return Failure(f"{path} cannot be read: {error.strerror}")

    def fitting(place: TensorPlace) -> Result[TensorPlace, str]:
        if place.end > size:
            return Failure(f"it ends after {size:,} of {place.end:,} bytes")
        return Success(place)

    return (
        header.bind(lambda found: parse_table(found, _TABLE))
        .bind(fitting)
        .map(lambda place: WeightTable(path, place, f"{zlib.crc32(sample):08x}"))
        .alt(lambda problem: f"{path}: {problem}")
    )
