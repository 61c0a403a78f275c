"""The token that clients of the HTTP surface show: `~/.local/state/agent-memory/mcp-token`, for its owner's eyes only (P22)."""

from __future__ import annotations

import os
import re
import secrets

from attrs import field, frozen

from agent_memory.adapters.disk.durable import FILE_MODE, create_file, make_directories, replace_file
from agent_memory.adapters.disk.paths import as_store_io, read_image
from agent_memory.adapters.disk.root import local_state_directory
from agent_memory.errors import StateCorrupt, StoreIo
from agent_memory.results import as_result

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}", re.ASCII)
_RANDOM_BYTES = 32
_MAX_BYTES = 4_096


@frozen
class HttpToken:
    """A token and where it is kept."""

    value: str = field(repr=False)
    path: str
    is_new: bool = False


@as_result
def http_token(home: str, *, renew: bool = False) -> HttpToken:
    """The token of this home; made where there is none yet, and anew where that is asked for."""
    path = f"{local_state_directory(home)}/mcp-token"
    image = read_image(path, _MAX_BYTES)
    if image is not None and not renew:
        return _kept(path, image.data)
    value = secrets.token_urlsafe(_RANDOM_BYTES)
    write = create_file if image is None else replace_file
    try:
        with as_store_io("write", path):
            make_directories(os.path.dirname(path))
            write(path, f"{value}\n".encode())
    except StoreIo as error:
        image = read_image(path, _MAX_BYTES) if error.errno_name == "EEXIST" else None
        if image is None:
            raise
        return _kept(path, image.data)  # another server has just made one
    return HttpToken(value, path, is_new=True)


def _kept(path: str, data: bytes) -> HttpToken:
    value = data.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(value):
        raise StateCorrupt(path, ("it holds no token of 32 letters and digits or more",))
    with as_store_io("protect", path):
        os.chmod(path, FILE_MODE)
    return HttpToken(value, path)
