"""The token that clients of the HTTP surface show: `~/.local/state/agent-memory/mcp-token`, for its owner's eyes only (P22)."""

from __future__ import annotations

import os
import re
import secrets

from attrs import field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import FILE_MODE, create_file, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.surroundings.root import local_state_directory
from agent_memory.errors import Error, StateCorrupt
from agent_memory.results import sealed

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}", re.ASCII)
_RANDOM_BYTES = 32
_MAX_BYTES = 4_096


@frozen
class HttpToken:
    """A token and where it is kept."""

    value: str = field(repr=False)
    path: str
    is_new: bool = False


def http_token(home: str, *, renew: bool = False) -> Result[HttpToken, Error]:
    """The token of this home; made where there is none yet, and anew where that is asked for."""
    path = f"{local_state_directory(home)}/mcp-token"
    match sealed(read_file(path, _MAX_BYTES)):
        case Failure(error):
            return Failure(error)
        case Success(None):
            return _made(path)
        case Success(_) if renew:
            return _made(path, again=True)
        case Success(image):
            return _kept(path, b"" if image is None else image.data)


def _kept(path: str, data: bytes) -> Result[HttpToken, Error]:
    value = data.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(value):
        return Failure(StateCorrupt(path, ("it holds no token of 32 letters and digits or more",)))
    try:
        os.chmod(path, FILE_MODE)
    except OSError as error:
        return Failure(store_io(error, "protect", path))
    return Success(HttpToken(value, path))


def _made(path: str, *, again: bool = False) -> Result[HttpToken, Error]:
    value = secrets.token_urlsafe(_RANDOM_BYTES)
    write = replace_file if again else create_file
    try:
        make_directories(os.path.dirname(path))
        write(path, f"{value}\n".encode())
    except FileExistsError:  # another server has just made one
        return read_file(path, _MAX_BYTES).bind(lambda image: _kept(path, b"" if image is None else image.data))
    except OSError as error:
        return Failure(store_io(error, "write", path))
    return Success(HttpToken(value, path, is_new=True))
