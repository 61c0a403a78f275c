"""Secrets in what the store's git keeps: every version of every file and every message, also what no branch reaches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.domain.checkup.secret_search import SecretFind
from agent_memory.domain.redacted_stream import secrets_in
from agent_memory.domain.redaction import redact
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.values import frozen

BATCH_BYTES = 4 << 20
"""Objects are asked for in batches of about so much."""
MOST_BYTES = 64 << 20
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


@frozen
class ObjectSearch:
    """What git keeps and was looked at."""

    finds: tuple[SecretFind, ...] = ()
    objects: int = 0
    unread: tuple[str, ...] = ()


def search_objects(git: GitProcess) -> Result[ObjectSearch, Error]:
    """Every object that holds text; nothing where there is no repository. Changes nothing."""
    if not os.path.lexists(git.root / ".git"):
        return Success(ObjectSearch())
    asked = git.must(
        "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname) %(objectsize)"
    )
    return asked.bind(lambda listed: _searched(git, _objects(listed)))


def _objects(listed: bytes) -> tuple[_Object, ...]:
    rows = (line.split(" ") for line in listed.decode("ascii", "replace").splitlines())
    return tuple(_Object(name, int(size), kind == "blob") for kind, name, size in rows if kind in _TEXT_TYPES)


def _searched(git: GitProcess, objects: tuple[_Object, ...]) -> Result[ObjectSearch, Error]:
    too_large = tuple(each for each in objects if each.size_bytes > MOST_BYTES)
    found: list[tuple[_Object, tuple[tuple[str, int], ...]]] = []
    for batch in _batches(each for each in objects if each.size_bytes <= MOST_BYTES):
        match sealed(git.must("cat-file", "--batch", input="".join(f"{each.name}\n" for each in batch).encode())):
            case Failure(error):
                return Failure(error)
            case Success(answer):
                found.extend(_with_secrets(batch, answer))
    unread = tuple(f"git object {each.name}: it is larger than {MOST_BYTES >> 20} MiB" for each in too_large)
    if not found:
        return Success(ObjectSearch((), len(objects), unread))
    return _origins(git).map(
        lambda origins: ObjectSearch(tuple(_find(each, kinds, origins) for each, kinds in found), len(objects), unread)
    )


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


def _origins(git: GitProcess) -> Result[dict[str, tuple[str, str]], Error]:
    """For each blob the first commit that holds it, and its path there."""
    return git.must(*_ORIGINS).map(lambda log: dict(_first_places(log.decode("utf-8", "replace").split("\0"))))


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
