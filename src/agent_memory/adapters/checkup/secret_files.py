"""Secrets in the files of the store. Each is read in pieces, and no link is followed."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from typing import IO, Protocol

from agent_memory.adapters.checkup.walked_files import walk
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.domain.checkup.file_checks import Found
from agent_memory.domain.checkup.secret_search import SecretFind
from agent_memory.domain.redacted_stream import secrets_in
from agent_memory.domain.redaction import redact
from agent_memory.wording import describe

PIECE_BYTES = 1 << 20
MOST_BYTES = 1 << 28
"""Of one file, unpacked."""
_DERIVED = (".cache", ".git")
"""Made from the rest, or looked at by git itself."""
_SECRET_NOTE = re.compile(rb"""\A---\n(?:[^\n]*\n){0,60}?sensitivity:[ ]*["']?secret["']?[ ]*\n""")
_HEAD_BYTES = 4096


class Readable(Protocol):
    """Bytes, a piece at a time."""

    def read(self, size: int, /) -> bytes: ...


def looked_through(root: str) -> Iterator[SecretFind | str | None]:
    """For each file a find, None when there is none, or why it could not be looked at. A note whose sensitivity is
    `secret` may hold what it holds."""
    for found in walk(root):
        if isinstance(found, OSError):
            yield describe(store_io(found, "read", str(found.filename or root)))
        elif stat.S_ISREG(found.mode) and not found.path.startswith(_DERIVED):
            yield from _in_file(root, found)


def _in_file(root: str, found: Found) -> Iterator[SecretFind | str | None]:
    name = redact(found.path.encode("utf-8", "backslashreplace").decode())
    try:
        kinds = _kinds_in(f"{root}/{found.path}")
    except FileNotFoundError:
        return
    except (OSError, EOFError, zlib.error) as error:
        yield f"{name.text}: {getattr(error, 'strerror', None) or 'it is damaged'}"
        return
    if kinds is None:
        yield f"{name.text}: it is larger than {MOST_BYTES >> 20} MiB"
    kinds = _joined(kinds or (), name.found)
    yield SecretFind(name.text, kinds) if kinds else None


def _kinds_in(path: str) -> tuple[tuple[str, int], ...] | None:
    """What one file holds; None when it is too large to be read to its end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        if path.endswith(".md") and _SECRET_NOTE.match(file.read(_HEAD_BYTES)):
            return ()
        file.seek(0)
        reader = _Bounded(_unpacked(file, path))
        kinds = secrets_in(_texts(reader))
        return kinds if reader.left > 0 else None


def _unpacked(file: IO[bytes], path: str) -> Readable:
    return gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file


class _Bounded:
    """A file that ends after `MOST_BYTES`."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.left = MOST_BYTES

    def read(self, size: int, /) -> bytes:
        piece = self._file.read(min(size, self.left))
        self.left -= len(piece)
        return piece


def _texts(file: Readable) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while piece := file.read(PIECE_BYTES):
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _joined(first: tuple[tuple[str, int], ...], second: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    counts = dict(first)
    for name, count in second:
        counts[name] = counts.get(name, 0) + count
    return tuple(sorted(counts.items()))
