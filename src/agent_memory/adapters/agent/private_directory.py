"""The directory in which agent commands run: empty but for our mark, so that they find no project, and are never captured
(P23)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import DIRECTORY_MODE, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.surroundings.own_calls import CHILD_MARK
from agent_memory.adapters.surroundings.root import local_state_directory
from agent_memory.errors import Error

MARK_TEXT = (
    "agent-memory runs its agent commands here. While this file exists, nothing that happens here is captured.\n"
)


def private_directory(home: str) -> str:
    """Its path. It belongs to this machine and to no store."""
    return f"{local_state_directory(home)}/child"


def prepare_private_directory(path: str, files: Mapping[str, str]) -> Result[None, Error]:
    """The directory exists with mode 0700 and holds the mark and these files."""
    try:
        make_directories(path)
        os.chmod(path, DIRECTORY_MODE)
        for name, text in {CHILD_MARK: MARK_TEXT, **files}.items():
            _put(f"{path}/{name}", text.encode())
    except OSError as error:
        return Failure(store_io(error, "prepare", path))
    return Success(None)


def _put(path: str, content: bytes) -> None:
    try:
        with open(path, "rb") as existing:
            if existing.read(len(content) + 1) == content:
                return
    except FileNotFoundError:
        pass
    replace_file(path, content)
