"""From the operating system's errors to ours."""

from __future__ import annotations

import errno

from agent_memory.errors import StoreIo


def store_io(error: OSError, operation: str, path: str) -> StoreIo:
    """The value for a failed `operation` (a verb: `write`, `read`, `list`) on `path`."""
    name = errno.errorcode.get(error.errno, "EUNKNOWN") if error.errno is not None else "EUNKNOWN"
    return StoreIo(path, operation, name, error.strerror or str(error))
