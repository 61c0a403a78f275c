"""One file under the root, replaced as a whole."""

from __future__ import annotations

import os

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.errors import Error, StoreIo
from agent_memory.results import sealed


def put_file(root: str, relative: str, text: str) -> Result[None, Error]:
    """Make the file hold `text` (UTF-8), durably, with the directories it needs. Half a surrogate pair, which has no
    bytes, becomes its own JSON escape."""
    match sealed(directory_inside(root, os.path.dirname(relative))):
        case Failure(error):
            return Failure(error)
        case Success(directory):
            try:
                make_directories(directory)
                replace_file(f"{root}/{relative}", text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                return Failure(store_io(error, "write", f"{root}/{relative}"))
            return Success(None)


def drop_file(root: str, relative: str) -> Result[None, StoreIo]:
    """Remove the file, durably; one that is not there counts as removed."""
    path = f"{root}/{relative}"
    try:
        os.unlink(path)
        fsync_directory(os.path.dirname(path))
    except FileNotFoundError:
        return Success(None)
    except OSError as error:
        return Failure(store_io(error, "remove", path))
    return Success(None)
