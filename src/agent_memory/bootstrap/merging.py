"""The room of `memory merge-driver`: the three files that git names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import read_file
from agent_memory.errors import Error, PathRefused
from agent_memory.results import sealed

_MAX_BYTES = 64 << 20


def read_merged(files: Sequence[Path]) -> Result[tuple[bytes, bytes, bytes], Error]:
    """What base, ours and theirs hold. PathRefused for what is no regular file."""
    found: list[bytes] = []
    for file in files:
        match sealed(read_file(os.path.abspath(file), _MAX_BYTES)):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return Failure(PathRefused(str(file), "it is not there"))
            case Success(image):
                found.append(b"" if image is None else image.data)
    base, ours, theirs = found
    return Success((base, ours, theirs))


def write_merged(file: Path, data: bytes) -> Result[None, Error]:
    """Replace the file that git made for the result."""
    path = os.path.abspath(file)
    try:
        replace_file(path, data)
    except OSError as error:
        return Failure(store_io(error, "write", path))
    return Success(None)
