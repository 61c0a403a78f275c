"""Where transcripts may lie, how one is found and opened (P27), and how a session is read from it (P25)."""

from __future__ import annotations

import errno
import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import ClassVar, Self, TypeVar

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.files.lines import Line, LongLine, objects_in, read_lines
from agent_memory.files.paths import close_quietly, lies_there, store_io, walk
from agent_memory.harness.turn_builder import Session
from agent_memory.note.note import NAMES
from agent_memory.session.found_session import FoundSession
from agent_memory.session.history import History, SessionMark, transcript_key
from agent_memory.session.queue import retrieval_of

_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,127}", re.ASCII)
# With O_PATH (Linux) a directory that may be passed through but not listed will do.
_DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)


# -- where transcripts may be -----------------------------------------------------------------------------------------


Roots = tuple[str, ...]
"""The directories that transcripts may be in. Links are followed from a root on as long as they stay inside some root; a
transcript itself must be no link."""


def _admitted(path: str, roots: Roots) -> str:
    """Returns the path with its parents' links resolved, if it is inside a root; else raises TranscriptRefused."""
    problem = "its path holds a NUL" if "\0" in path else "" if path.startswith("/") else "its path is not absolute"
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        problem = "its path is not text"
    if problem:
        raise TranscriptRefused(path, problem)
    parent, name = os.path.split(os.path.normpath(path))
    real = os.path.join(os.path.realpath(parent), name)
    if any(real.startswith(os.path.realpath(root).rstrip("/") + "/") for root in roots):
        return real
    outside = f"it is outside the transcript directories ({', '.join(roots) or 'none is known'})"
    raise TranscriptRefused(path, f"{outside}; add its directory to capture.transcriptRoots if it is yours")


@frozen
class Surroundings:
    """What history sources and session finders are built from."""

    environ: Mapping[str, str]
    home: str
    root: Path
    transcript_roots: tuple[str, ...] = ()  # `capture.transcriptRoots`, and those recorded by setup
    # Where sessions are known to have been, of any harness; asked for only when they are needed.
    project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple
    for_agent: bool = False

    def named(self, variable: str) -> str:
        """Returns what a variable names; nothing to an agent, which may have set it for this one call (P27)."""
        return "" if self.for_agent else self.environ.get(variable, "")

    def roots(self, *directories: str) -> Roots:
        """Returns a harness's own directories in their order, and the further ones. `~` is the home. What is not
        absolute then is no root."""
        paths = filter(None, (*directories, *self.transcript_roots))
        roots = [os.path.normpath(re.sub(r"^~(?=/|$)", lambda _: self.home, path)) for path in paths]
        return tuple(dict.fromkeys(root for root in roots if root.startswith("/")))

    def homes(self, variable: str, usual: str) -> list[str]:
        """Returns the directory that a variable names, if it does, and the usual one."""
        return [each for each in (self.named(variable), usual) if each]


def is_session_id(text: str) -> bool:
    """Tells whether a session id may become part of a file name."""
    return bool(_SESSION_ID.fullmatch(text))


# -- finding them -----------------------------------------------------------------------------------------------------


def files_below(directory: str, max_depth: int) -> Iterator[tuple[str, os.stat_result] | OSError]:
    """Yields what is no directory and lies at most `max_depth` directories below this one, by name; an error for what
    cannot be looked at."""
    for each in walk(directory, lambda path: path[len(directory) :].count("/") <= max_depth):
        if isinstance(each, OSError) or not stat.S_ISDIR(each[1].st_mode):
            yield each


def head_of(path: str) -> bytes:
    """Returns the first bytes of a file. Raises OSError."""
    descriptor = os.open(path, _FILE_FLAGS)
    try:
        return os.read(descriptor, 256 * 1024)
    finally:
        close_quietly(descriptor)


# -- opening one ------------------------------------------------------------------------------------------------------


@frozen
class OpenTranscript:
    """A regular file, open for reading at its beginning."""

    path: str
    size_bytes: int  # when it was opened
    descriptor: int


@contextmanager
def transcript(roots: Roots, path: str, session_id: str) -> Generator[OpenTranscript, None, None]:
    """Yields the open transcript. Raises TranscriptRefused: outside the roots, a symbolic link, no regular file.
    HistoryUnavailable: missing, not to be opened now, or an OSError in the context. Every directory below `/` is
    opened without following links, so that one exchanged for a link after the check is refused."""
    real = _admitted(path, roots)
    with ExitStack() as stack:
        try:
            descriptor = _open_without_links(real, path)
            stack.callback(close_quietly, descriptor)
            status = os.fstat(descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                _refuse_irregular(path, stat.S_IFLNK)
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise HistoryUnavailable(session_id, f"there is no transcript at {path}", is_missing=True) from None
            raise HistoryUnavailable(session_id, f"{path} cannot be opened: {error.strerror}") from None
        _refuse_irregular(path, status.st_mode)
        try:
            yield OpenTranscript(real, status.st_size, descriptor)
        except OSError as error:
            raise HistoryUnavailable(session_id, f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def file_beside(roots: Roots, path: str, session_id: str) -> Generator[OpenTranscript | None, None, None]:
    """Returns what tells more of a session than its transcript; None where there is no such file, or none that may be
    read. HistoryUnavailable where it cannot be opened now: without it the session would be taken for another (P6)."""
    with ExitStack() as stack:
        file = None
        try:
            file = stack.enter_context(transcript(roots, path, session_id))
        except TranscriptRefused:
            pass
        except HistoryUnavailable as error:
            if not error.is_missing:
                raise
        yield file


def text_beside(directory: str, name: str, session_id: str) -> str:
    """Returns the text of such a file of a few lines, empty where there is none."""
    with file_beside((directory,), f"{directory}/{name}", session_id) as file:
        return os.read(file.descriptor, 4 * 1024 * 1024).decode("utf-8", "replace") if file else ""


def _open_without_links(real: str, path: str) -> int:
    names = real.strip("/").split("/")
    directory = os.open("/", _DIRECTORY_FLAGS)
    try:
        for name in names[:-1]:
            below = os.open(name, _DIRECTORY_FLAGS, dir_fd=directory)
            os.close(directory)
            directory = below
        # Looked at before it is opened: opening a device can have effects of its own.
        _refuse_irregular(path, os.stat(names[-1], dir_fd=directory, follow_symlinks=False).st_mode)
        return os.open(names[-1], _FILE_FLAGS, dir_fd=directory)
    finally:
        os.close(directory)


def _refuse_irregular(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise TranscriptRefused(path, "it is a symbolic link" if stat.S_ISLNK(mode) else "it is not a regular file")


# -- reading a session ------------------------------------------------------------------------------------------------

# The pieces of an open file of so many bytes, each of which holds one JSON object.
ReadsPieces = Callable[[int, int], "Iterator[Line | LongLine]"]
AnySession = TypeVar("AnySession", bound=Session)
Findings = Iterator[Result[FoundSession, Error]]


class Sessions(ABC):
    """The sessions of one harness, a `ports.SessionFinder`."""

    session: type[Session]
    harness_home: ClassVar[tuple[str, str]]  # the variable that may name the harness's own directory, and the usual one
    below: ClassVar[tuple[str, ...]]  # where in it sessions are

    def __init__(self, roots: Roots) -> None:
        self.roots = roots

    @classmethod
    def at(cls, given: Surroundings) -> Self:
        return cls(given.roots(*cls.directories(given)))

    @classmethod
    def directories(cls, given: Surroundings) -> list[str]:
        return [f"{each}/{name}" for each in given.homes(*cls.harness_home) for name in cls.below]

    @abstractmethod
    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        """Returns the turns after the mark, at most about 16 MiB of them (`remaining` then); `named` is where the session
        is said to be, `cwd` where it took place. HistoryUnavailable: no transcript yet, or a failing read.
        HistoryUnreadable: an unknown format. TranscriptRefused: see `transcript`."""

    @abstractmethod
    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`."""


class SessionFiles(Sessions):
    """The sessions of a harness that keeps each in a file."""

    named: ClassVar[re.Pattern[str]]  # the path of a transcript below a root; its group `id` is the session's
    max_depth: ClassVar[int]  # how many directories below a root transcripts may be
    begins: ClassVar[re.Pattern[bytes] | None] = None  # its first record, where others name their files alike
    shares_record_ids: ClassVar[bool] = False

    def id_in(self, name: str, path: str) -> str | None:
        """Returns the id of the session in a file, whose path below a root is `name`; None for what is no transcript.
        Raises OSError."""
        found = self.named.fullmatch(name)
        return found["id"] if found else None

    def is_persons(self, session_id: str, path: str) -> bool:
        """Tells whether it is a person's session of this harness, not a sub-agent's. Raises OSError if it cannot tell."""
        return bool(_UUID.fullmatch(session_id)) and (self.begins is None or bool(self.begins.match(head_of(path))))

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`. Of a session that is in several files (it was resumed in another directory, or copied)
        each counts; linked files and directories are passed over."""
        harness = self.session.harness
        listed: set[tuple[int, int]] = set()  # a root may be another's by a link
        for root in self.roots:
            for each in files_below(root, self.max_depth):
                try:
                    path, status = seen(each)
                    changed_at_ms = status.st_mtime_ns // 1_000_000
                    if not stat.S_ISREG(status.st_mode) or (since_ms is not None and changed_at_ms < since_ms):
                        continue
                    session_id = self.id_in(path[len(root) + 1 :], path)
                    if session_id is None or not self.is_persons(session_id, path):
                        continue
                except FileNotFoundError:
                    continue
                except OSError as error:
                    yield Failure(store_io(error, "examine", error.filename or root))
                    continue
                if (file := (status.st_dev, status.st_ino)) not in listed:
                    listed.add(file)
                    how, size_bytes = retrieval_of(harness, session_id, path), status.st_size
                    shared = self.shares_record_ids
                    yield Success(FoundSession(harness, how, changed_at_ms, size_bytes, shares_record_ids=shared))

    def path_of(self, session_id: str) -> str | None:
        """Returns the newest transcript of a session, if any. Raises OSError: what cannot be seen may be newer (P6)."""
        found: dict[str, float] = {}
        for root in self.roots if is_session_id(session_id) else ():
            for path, status in map(seen, files_below(root, self.max_depth)):
                # Every harness has at least the beginning of the id in the path: few files have to be opened.
                may_be_it = session_id[:8] in path and stat.S_ISREG(status.st_mode)
                if may_be_it and self.id_in(path[len(root) + 1 :], path) == session_id:
                    found[path] = status.st_mtime
        return max(found, key=found.__getitem__, default=None)

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        """Of the transcript that is named, else of the one that is found: it may have moved with its project."""
        with looking_for(session_id):
            path = named if named is not None and lies_there(named) else self.path_of(session_id) or named
        if path is None:
            raise not_found(session_id, self.roots)
        return self.read_at(path, session_id, mark)

    def read_at(self, path: str, session_id: str, mark: SessionMark | None) -> History:
        with transcript(self.roots, path, session_id) as file:
            return self.read(file, session_id, mark)

    def read(self, file: OpenTranscript, session_id: str, mark: SessionMark | None) -> History:
        return file_history(read_session(file, mark, self.session(session_id), self.pieces_in(file.path)), file)

    def pieces_in(self, path: str) -> ReadsPieces:
        """Tells how the file is divided into pieces that each hold one object."""
        return read_lines


def seen(found: tuple[str, os.stat_result] | OSError) -> tuple[str, os.stat_result]:
    """Returns what `files_below` could look at; an error is raised."""
    if isinstance(found, OSError):
        raise found
    return found


def not_found(session_id: str, roots: Roots) -> HistoryUnavailable:
    """Tells why a session cannot be read of which there is nothing in these roots."""
    where = ", ".join(roots) or "any known directory"
    return HistoryUnavailable(session_id, f"there is no transcript of it in {where}", is_missing=True)


@contextmanager
def looking_for(session_id: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        place = error.filename or "a directory"
        raise HistoryUnavailable(session_id, f"{place} cannot be searched: {error.strerror}") from None


def read_session(
    file: OpenTranscript, mark: SessionMark | None, session: AnySession, pieces: ReadsPieces = read_lines
) -> AnySession:
    """Returns the session with all that is new in the file. The mark of another file says nothing of this one."""

    def fill(session: AnySession) -> None:
        # The whole file is read each time, so that a turn has the same number in every fetch; only what is new is kept.
        os.lseek(file.descriptor, 0, os.SEEK_SET)
        for piece in pieces(file.descriptor, file.size_bytes):
            if session.done:
                return
            if isinstance(piece, LongLine):
                session.skip("line-too-long")
                continue
            objects = objects_in(piece.data, finished=piece.finished)
            for value in objects.found:
                if not session.done:
                    session.take(value)
            if objects.too_many_values:
                session.skip("line-too-complex")
            elif objects.broken:
                is_stump = not piece.finished and piece.data.lstrip()[:1] == b"{"
                session.skip("unfinished-line" if is_stump else "bad-line")

    return filled(session, None if mark is None else mark.within(transcript_key(file.path)), fill)


def filled(session: AnySession, mark: SessionMark | None, fill: Callable[[AnySession], object]) -> AnySession:
    """Returns the session with all that is new of what `fill` puts into it; once more, where only the end told what it
    should have known."""
    session.go_on_after(mark)
    while True:
        unfilled = deepcopy(session)
        fill(session)
        session.end()
        if not session.teach(unfilled):
            return session
        session = unfilled


def file_history(session: Session, file: OpenTranscript) -> History:
    """Returns the history of a session that was read from a file of its own; errors: see `history_in`."""
    return evolve(history_in(session, file.path, file.size_bytes), transcript=transcript_key(file.path))


def history_in(session: Session, path: str, size_bytes: int) -> History:
    """Returns the session's history. HistoryUnavailable: empty, or with a first record still being written.
    HistoryUnreadable: no record of the harness, or most are of unknown kinds and the words of person or agent are
    missing."""
    if session.own_call:
        return session.history()
    is_whole = session.person_spoke and session.agent_spoke
    if session.unknown_records > session.known_records and not is_whole:
        records = session.unknown_records + session.known_records
        unknown = f"{session.unknown_records} of its {records} records are of kinds not known to this version"
        changed = f"the format of {NAMES[session.harness]} seems to have changed: update memory"
        raise HistoryUnreadable(path, f"{unknown}; {changed}")
    if session.known_records:
        return session.history()
    if size_bytes == 0:
        raise HistoryUnavailable(session.session_id, f"{path} is empty so far", is_missing=True)
    if session.skipped.keys() == {"unfinished-line"}:
        begun = f"the first record of {path} is still being written"
        raise HistoryUnavailable(session.session_id, begun, is_missing=True)
    raise HistoryUnreadable(path, f"there is no record of {NAMES[session.harness]} in it")
