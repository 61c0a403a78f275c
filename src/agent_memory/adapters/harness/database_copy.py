"""A private copy of a database and what lies beside it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from agent_memory.adapters.disk.durable import FILE_MODE
from agent_memory.adapters.disk.paths import close_quietly

_CHUNK_BYTES = 1024 * 1024


@contextmanager
def copied(descriptor: int, path: str, beside: Sequence[str]) -> Generator[str, None, None]:
    """The path of a copy of the open file, with copies of those of `path` + `beside` that exist next to it.

    It is in a directory that nobody else may enter, and gone when the context ends. Raises OSError.
    """
    with tempfile.TemporaryDirectory(prefix="agent-memory-") as directory:
        target = f"{directory}/database"
        _copy(descriptor, target)
        for suffix in beside:
            try:
                found = os.open(path + suffix, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                _copy(found, target + suffix)
            finally:
                close_quietly(found)
        yield target


def _copy(source: int, target: str) -> None:
    made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        at = 0
        while chunk := os.pread(source, _CHUNK_BYTES, at):
            view = memoryview(chunk)
            while view:
                view = view[os.write(made, view) :]
            at += len(chunk)
    finally:
        os.close(made)
