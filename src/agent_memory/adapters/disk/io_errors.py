"""From the operating system's errors to ours."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager

from agent_memory.errors import StoreIo


def store_io(error: OSError, operation: str, path: str) -> StoreIo:
    """The error for a failed `operation` (a verb: `write`, `read`, `list`) on `path`."""
    name = errno.errorcode.get(error.errno, "EUNKNOWN") if error.errno is not None else "EUNKNOWN"
    return StoreIo(path, operation, name, error.strerror or str(error))


@contextmanager
def as_store_io(operation: str, path: str) -> Generator[None, None, None]:
    """Raise StoreIo in the place of an OSError."""
    try:
        yield
    except OSError as error:
        raise store_io(error, operation, path) from error
