"""Secrets in the whole store: its files, then every version that its git keeps."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Protocol

from attrs import frozen
from returns.result import Failure, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.doctor.files import walk
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.domain.doctor.catalogue import SecretFind, SecretSearch
from agent_memory.domain.doctor.store_checks import Found
from agent_memory.domain.redacted_stream import secrets_in
from agent_memory.domain.redaction import redact
from agent_memory.results import as_result, sealed
from agent_memory.wording import describe

_SHOWN_EVERY = 500


def search_secrets(root: str, git: GitProcess, progress: Callable[[str], None] = lambda _: None) -> SecretSearch:
    """Everything below the root but what is derived from it, and every object of its repository. Changes nothing."""
    finds: list[SecretFind] = []
    unread: list[str] = []
    files = 0
    for each in looked_through(root):
        if isinstance(each, str):
            unread.append(each)
            continue
        files += 1
        if files % _SHOWN_EVERY == 0:
            progress(f"{files:,} files")
        if each is not None:
            finds.append(each)
    progress("what git keeps")
    match sealed(search_objects(git)):
        case Failure(error):
            return SecretSearch(tuple(finds), files, 0, (*unread, f"git: {describe(error)}"))
        case Success(kept):
            return SecretSearch((*finds, *kept.finds), files, kept.objects, (*unread, *kept.unread))


# -- files ------------------------------------------------------------------------------------------------------------


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


# -- what git keeps ---------------------------------------------------------------------------------------------------


BATCH_BYTES = 4 << 20
"""Objects are asked for in batches of about so much."""
MOST_OBJECT_BYTES = 64 << 20
"""A larger object is not looked at."""
_TEXT_TYPES = ("blob", "commit", "tag")
_ORIGINS = (
    "log",
    "--all",
    "--reflog",
    "--reverse",
    "--raw",
    "-m",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--format=%x01%H",
)


@frozen
class _Object:
    name: str
    size_bytes: int
    is_blob: bool


@as_result
def search_objects(git: GitProcess) -> SecretSearch:
    """Every object that holds text; nothing where there is no repository. Changes nothing."""
    if not os.path.lexists(git.root / ".git"):
        return SecretSearch()
    listed = git.must(
        "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname) %(objectsize)"
    )
    return _searched(git, _objects(listed))


def _objects(listed: bytes) -> tuple[_Object, ...]:
    rows = (line.split(" ") for line in listed.decode("ascii", "replace").splitlines())
    return tuple(_Object(name, int(size), kind == "blob") for kind, name, size in rows if kind in _TEXT_TYPES)


def _searched(git: GitProcess, objects: tuple[_Object, ...]) -> SecretSearch:
    too_large = tuple(each for each in objects if each.size_bytes > MOST_OBJECT_BYTES)
    found: list[tuple[_Object, tuple[tuple[str, int], ...]]] = []
    for batch in _batches(each for each in objects if each.size_bytes <= MOST_OBJECT_BYTES):
        answer = git.must("cat-file", "--batch", input="".join(f"{each.name}\n" for each in batch).encode())
        found.extend(_with_secrets(batch, answer))
    unread = tuple(f"git object {each.name}: it is larger than {MOST_OBJECT_BYTES >> 20} MiB" for each in too_large)
    if not found:
        return SecretSearch(objects=len(objects), unread=unread)
    origins = dict(_first_places(git.must(*_ORIGINS).decode("utf-8", "replace").split("\0")))
    """For each blob the first commit that holds it, and its path there."""
    return SecretSearch(tuple(_find(each, kinds, origins) for each, kinds in found), 0, len(objects), unread)


def _batches(objects: Iterable[_Object]) -> Iterator[list[_Object]]:
    batch: list[_Object] = []
    size_bytes = 0
    for each in objects:
        batch.append(each)
        size_bytes += each.size_bytes
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch


def _with_secrets(batch: list[_Object], answer: bytes) -> Iterator[tuple[_Object, tuple[tuple[str, int], ...]]]:
    """Those in which something is found; the answer holds a line and the bytes of each object, in the order of the batch.
    One that was pruned meanwhile is a line alone."""
    position = 0
    for each in batch:
        begin = answer.index(b"\n", position) + 1
        if answer[position:begin].endswith(b" missing\n"):
            position = begin
            continue
        position = begin + each.size_bytes + 1
        text = answer[begin : begin + each.size_bytes].decode("utf-8", "replace")
        if kinds := secrets_in((text,)):
            yield each, kinds


def _first_places(words: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    seen: set[str] = set()
    commit = ""
    fields = iter(words)
    for word in fields:
        rest = word.lstrip("\n")
        if rest.startswith("\x01"):
            commit, _, rest = rest[1:].partition("\n")
            rest = rest.lstrip("\n")
        if not rest.startswith(":"):
            continue
        path, name = next(fields, ""), rest.split(" ")[3]
        if name not in seen:
            seen.add(name)
            yield name, (commit, path)


def _find(each: _Object, kinds: tuple[tuple[str, int], ...], origins: dict[str, tuple[str, str]]) -> SecretFind:
    if not each.is_blob:
        return SecretFind("", kinds, commit=each.name, in_history=True)
    commit, path = origins.get(each.name, ("", ""))
    return SecretFind(redact(path).text, kinds, commit=commit or None, in_history=True)
