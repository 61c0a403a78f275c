"""A `git fast-export` stream without some of its files: stream to stream, one command at a time (git-fast-import(1)).

Read with `--show-original-ids`, so that a blob is known by its object id. What a commit changed is the last thing that the
stream tells of it, so a commit is held until it is whole; a blob never is, unless it goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from attrs import define, field, frozen

Key = tuple[str, str]
"""A path, and the object id of what is there."""

_DATA = re.compile(rb"data (\d+)\n")
_MODIFY = re.compile(rb"M (\d+) (:\d+|[0-9a-f]{40,64}) (.+)\n", re.DOTALL)
_DELETE = re.compile(rb"D (.+)\n", re.DOTALL)
_STARTS = (b"blob\n", b"commit ", b"tag ", b"reset ", b"feature ", b"done\n", b"option ", b"progress ")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED = re.compile(rb"\\(?:([0-7]{3})|(.))", re.DOTALL)


class Reads(Protocol):
    """A binary stream."""

    def readline(self) -> bytes: ...

    def read(self, size: int, /) -> bytes: ...


class StreamBroken(Exception):
    """The stream ended inside a command, or holds what no fast-export writes."""


@frozen
class Choice:
    """What goes."""

    drops_path: Callable[[str], bool]
    """A path of which every version goes."""
    dropped: frozenset[Key] = field(default=frozenset())
    """Versions that go."""
    rewritten: Mapping[Key, bytes] = field(factory=dict[Key, bytes])
    """Versions that hold something else from now on."""
    kept: frozenset[str] = field(default=frozenset())
    """Object ids that are used where nothing goes; a blob that is only among the others is left out."""
    message: Callable[[str, bool], str] = lambda text, _: text
    """A commit's message as it goes on; the flag says that the commit touched what goes."""


@define
class _State:
    """What is known so far: the object id of each mark."""

    ids: dict[bytes, str] = field(factory=dict[bytes, str])


def filtered_export(stream: Reads, choice: Choice) -> Iterator[bytes]:
    """The stream with what goes left out, in pieces. Raises StreamBroken."""
    state = _State()
    line = stream.readline()
    while line:
        if line == b"blob\n":
            blob, line = _blob(stream, state, choice)
            yield from blob
        elif line.startswith((b"commit ", b"tag ")):
            command, line = _command(stream, line)
            yield from _commit(command, state, choice) if command[0].startswith(b"commit ") else _tag(command, choice)
        else:
            yield line
            line = stream.readline()


def _blob(stream: Reads, state: _State, choice: Choice) -> tuple[list[bytes], bytes]:
    mark = id = b""
    while not (found := _DATA.fullmatch(line := stream.readline())):
        if line.startswith(b"mark "):
            mark = line[len(b"mark ") :].rstrip(b"\n")
        elif line.startswith(b"original-oid "):
            id = line[len(b"original-oid ") :].rstrip(b"\n")
        else:
            raise StreamBroken(f"unexpected {line[:40]!r} in a blob")
    data = _exactly(stream, int(found[1]))
    state.ids[mark] = id.decode("ascii")
    following = stream.readline()
    if following == b"\n":
        following = stream.readline()
    goes = bool(_goes_wholly(state.ids[mark], choice))
    return ([] if goes else [b"blob\nmark ", mark, b"\n", line, data, b"\n"]), following


def _goes_wholly(id: str, choice: Choice) -> bool:
    return id not in choice.kept


def _command(stream: Reads, first: bytes) -> tuple[list[bytes], bytes]:
    """The lines of a commit or tag, data blocks as one piece after their line, and the line that begins the next one."""
    pieces = [first]
    line = stream.readline()
    while line and not line.startswith(_STARTS):
        pieces.append(line)
        if found := _DATA.fullmatch(line):
            pieces.append(_exactly(stream, int(found[1])))
        line = stream.readline()
    return pieces, line


def _exactly(stream: Reads, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise StreamBroken("it ended inside a data block")
    return data


def _commit(pieces: list[bytes], state: _State, choice: Choice) -> Iterator[bytes]:
    at = next((index for index in range(len(pieces)) if _is_message(pieces, index)), None)
    if at is None:
        raise StreamBroken("a commit without a message")
    touched = False
    changes: list[bytes] = []
    for piece in pieces[at + 2 :]:
        said, goes = _change(piece, state, choice)
        touched = touched or goes
        changes.append(said)
    head = [piece for piece in pieces[:at] if not piece.startswith(b"original-oid ")]
    yield from head
    yield _data(choice.message(pieces[at + 1].decode("utf-8", "surrogateescape"), touched))
    yield from changes


def _is_message(pieces: list[bytes], index: int) -> bool:
    """A commit's message is its data block after the committer; a signature has one of its own, after `gpgsig`."""
    return bool(_DATA.fullmatch(pieces[index])) and not pieces[index - 1].startswith(b"gpgsig")


def _tag(pieces: list[bytes], choice: Choice) -> Iterator[bytes]:
    for index, piece in enumerate(pieces):
        if index > 0 and _DATA.fullmatch(pieces[index - 1]):
            yield _data(choice.message(piece.decode("utf-8", "surrogateescape"), True))
        elif not _DATA.fullmatch(piece) and not piece.startswith(b"original-oid ") and piece != b"\n":
            yield piece


def _data(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return b"data %d\n%s\n" % (len(data), data)


def _change(piece: bytes, state: _State, choice: Choice) -> tuple[bytes, bool]:
    """What is said of one changed file, and whether it goes."""
    if found := _DELETE.fullmatch(piece):
        return piece, choice.drops_path(plain_path(found[1]))
    found = _MODIFY.fullmatch(piece)
    if found is None:
        return piece, False
    mode, what, quoted = found.groups()
    path = plain_path(quoted)
    key = (path, state.ids.get(what, what.decode("ascii")))
    if choice.drops_path(path) or key in choice.dropped:
        return b"D %s\n" % quoted, True
    if (instead := choice.rewritten.get(key)) is not None:
        return b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted, len(instead), instead), True
    return piece, False


def plain_path(quoted: bytes) -> str:
    """A path as git writes it: in double quotes, with escapes, where it holds something that is none for a line."""
    if not quoted.startswith(b'"'):
        return quoted.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(_unescaped, quoted[1:-1]).decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    octal, letter = found.groups()
    return bytes([int(octal, 8) if octal else _ESCAPES[letter.decode("latin-1")]])
