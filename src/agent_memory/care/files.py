"""Lists everything below the root by `lstat`, and finds secrets in it and in all that its git keeps. Changes nothing."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate, chain, groupby

from attrs import frozen

from agent_memory.errors import Error
from agent_memory.files.durable import TEMPORARY_PREFIX, claim_abandoned, close_quietly
from agent_memory.files.paths import store_io, walk
from agent_memory.git.git_history import contents_of
from agent_memory.git.git_process import GitProcess
from agent_memory.redaction.redact import redact
from agent_memory.text.instants import HOUR_MS

_LITTER = re.compile(r"\.tmp-[0-9a-f]{16}", re.ASCII)
"""Names of our own temporary files only."""
_STAGED = re.compile(r"\.transaction/\d+\.new", re.ASCII)


@frozen
class Found:
    """A file, directory or other thing below the root, by `lstat`."""

    path: str
    """Relative to the root, printable; the root itself is empty."""
    mode: int
    """`st_mode`."""
    owner: int
    """User id."""
    mtime_ms: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_temporary(self) -> bool:
        """Returns whether it is a temporary file of ours: a leftover, unless a living process writes it."""
        return self.is_file and bool(_LITTER.fullmatch(self.name) or _STAGED.fullmatch(self.path))

    @property
    def is_loose(self) -> bool:
        """Returns whether others than the owner have a right to it."""
        return (self.is_file or self.is_directory) and bool(self.mode & 0o077)


def everything_in(root: str) -> Iterator[Found | OSError]:
    """Yields the root and everything below it except git's own files, by name; an error where something cannot be looked
    at."""
    try:
        seen: list[tuple[str, os.stat_result] | OSError] = [(root, os.lstat(root))]
    except FileNotFoundError:
        return
    except OSError as error:
        seen = [error]
    for each in chain(seen, walk(root, lambda path: not path.rpartition("/")[2].startswith(".git"))):
        if isinstance(each, OSError):
            yield each
        else:
            path, status = each
            yield Found(path[len(root) + 1 :], status.st_mode, status.st_uid, status.st_mtime_ns // 1_000_000)


@contextmanager
def unwritten(root: str, found: Found, now_ms: int) -> Generator[bool, None, None]:
    """Returns whether no living process writes this temporary file, and none will resume it: a writer holds it locked.
    Where locks cannot tell (a file system without them, files staged by a transaction) an age of one hour decides."""
    descriptor, is_free = None, found.mtime_ms <= now_ms - HOUR_MS
    if found.name.startswith(TEMPORARY_PREFIX):
        with suppress(OSError):
            descriptor = claim_abandoned(f"{root}/{found.path}")
            is_free = descriptor is not None
    try:
        yield is_free
    finally:
        if descriptor is not None:
            close_quietly(descriptor)


# -- secrets ----------------------------------------------------------------------------------------------------------


@frozen
class SecretKind:
    name: str
    """`github-token`"""
    count: int


@frozen
class SecretFind:
    """A file, an object in git or a name in which redaction finds something."""

    path: str | None
    """Relative to the root, without secrets. None for a git object that no commit holds any more."""
    commit: str | None
    """The first commit that holds it, in full; None for a file on disk."""
    in_history: bool
    """Whether it is in git's history rather than in a file."""
    kinds: tuple[SecretKind, ...]


@frozen
class SecretSearch:
    """The findings of `memory doctor --secrets`, files first, and how much was searched."""

    secrets: tuple[SecretFind, ...]
    files: int
    objects: int
    """Git objects: versions of files and messages of commits."""
    unread: tuple[str, ...] = ()
    """What could not be searched, each with the reason: if there is any, finding nothing proves nothing."""


def search_secrets(root: str, git: GitProcess, progress: Callable[[str], None] = lambda _: None) -> SecretSearch:
    """Searches everything below the root except derived files, and every object of its repository. Changes nothing."""
    finds: list[SecretFind] = []
    unread: list[str] = []
    files = objects = 0
    for each in _files(root):
        if isinstance(each, str):
            unread.append(each)
            continue
        files += 1
        if files % 500 == 0:
            progress(f"{files:,} files")
        finds += [] if each is None else [each]
    progress("what git keeps")
    try:
        if os.path.lexists(git.root / ".git"):
            rows = (row.split(" ") for row in git.must("cat-file", *_LISTED).decode("ascii", "replace").splitlines())
            listed = [
                (name, int(size), kind == "blob") for kind, name, size in rows if kind in ("blob", "commit", "tag")
            ]
            objects = len(listed)
            finds += _finds_among([each for each in listed if each[1] <= _MOST_BYTES], git)
            too_large = (name for name, size_bytes, _ in listed if size_bytes > _MOST_BYTES)
            unread += [f"git object {name}: it is larger than {_MOST_BYTES >> 20} MiB" for name in too_large]
    except Error as error:
        unread.append(f"git: {error!s}")
    return SecretSearch(tuple(finds), files, objects, tuple(unread))


def _kinds(counts: Counter[str]) -> tuple[SecretKind, ...]:
    return tuple(SecretKind(name, count) for name, count in sorted(counts.items()))


# -- files ------------------------------------------------------------------------------------------------------------

_MOST_BYTES = 64 << 20
"""The limit for one file, unpacked, or one object. A larger one is not searched."""
_DERIVED = (".cache", ".git")
"""Derived files, or files that git itself is asked about."""
_SECRET_NOTE = re.compile(rb"""\A---\n(?:[^\n]*\n){0,60}?sensitivity:[ ]*["']?secret["']?[ ]*\n""")


def _files(root: str) -> Iterator[SecretFind | str | None]:
    """Yields for each file the find, None if there is none, or the reason why it could not be searched."""
    for found in everything_in(root):
        if isinstance(found, OSError):
            yield str(store_io(found, "read", str(found.filename or root)))
        elif found.is_file and not found.path.startswith(_DERIVED):
            name = redact(found.path.encode("utf-8", "backslashreplace").decode())
            kinds = Counter(dict(name.found))
            try:
                data = _content_of(f"{root}/{found.path}")
                if len(data) > _MOST_BYTES:
                    yield f"{name.text}: it is larger than {_MOST_BYTES >> 20} MiB"
                else:
                    kinds.update(dict(redact(data.decode("utf-8", "replace")).found))
            except FileNotFoundError:
                continue
            except (OSError, EOFError, zlib.error) as error:
                yield f"{name.text}: {getattr(error, 'strerror', None) or 'it is damaged'}"
                continue
            yield SecretFind(name.text, None, False, _kinds(kinds)) if kinds else None


def _content_of(path: str) -> bytes:
    """Returns the content of a file, with one byte more than is searched; nothing for a note whose sensitivity is
    `secret`: it may hold secrets."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        if path.endswith(".md") and _SECRET_NOTE.match(file.read(4096)):
            return b""
        file.seek(0)
        reader = gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file
        return reader.read(_MOST_BYTES + 1)


# -- what git keeps ---------------------------------------------------------------------------------------------------

_LISTED = ("--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname) %(objectsize)")
_ORIGINS = ("--all", "--reflog", "--reverse", "--raw", "-m", "-z", "--no-abbrev", "--no-renames", "--format=%x01%H")


_Object = tuple[str, int, bool]
"""Name, size in bytes, and whether it is a blob: a version of a file."""


def _finds_among(objects: list[_Object], git: GitProcess) -> Iterator[SecretFind]:
    found: list[tuple[str, bool, Counter[str]]] = []
    totals = accumulate(size_bytes for _, size_bytes, _ in objects)
    # Objects are requested in batches of about this size.
    for _, group in groupby(zip(objects, totals, strict=True), key=lambda each: each[1] // (4 << 20)):
        batch = [each for each, _ in group]
        held = contents_of(git, [name for name, _, _ in batch])
        for name, _, is_blob in batch:  # an object pruned meanwhile holds nothing
            if kinds := redact(held.get(name, b"").decode("utf-8", "replace")).found:
                found.append((name, is_blob, Counter(dict(kinds))))
    # For each blob, the first commit that holds it, and its path there.
    origins = dict(_first_places(git)) if found else {}
    for name, is_blob, counts in found:
        commit, path = origins.get(name, ("", "")) if is_blob else (name, "")
        yield SecretFind(redact(path).text or None, commit or None, True, _kinds(counts))


def _first_places(git: GitProcess) -> Iterator[tuple[str, tuple[str, str]]]:
    seen: set[str] = set()
    commit = ""
    fields = iter(git.must("log", *_ORIGINS).decode("utf-8", "replace").split("\0"))
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
