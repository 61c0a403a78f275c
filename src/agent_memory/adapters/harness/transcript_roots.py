"""Which transcripts may be read, and how they are opened (P27)."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import close_quietly, lies_there
from agent_memory.errors import HistoryUnavailable, TranscriptRefused
from agent_memory.results import sealed

_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,127}", re.ASCII)
# With O_PATH (Linux) a directory that may be passed through but not listed will do.
_DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO would wait for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@frozen
class OpenTranscript:
    """A regular file, open for reading at its beginning."""

    path: str
    descriptor: int
    size_bytes: int
    """When it was opened."""


@frozen
class TranscriptRoots:
    """The directories that transcripts may be in, as the person or the harness named them. A root may be a symbolic link,
    and links between a root and a transcript are followed as long as they stay inside some root; the transcript itself
    must be no link."""

    roots: tuple[str, ...]

    def admit(self, path: str) -> Result[str, TranscriptRefused]:
        """The path with its parents' links resolved, if it is inside a root; nothing is opened."""
        problem = _problem_with(path)
        if problem:
            return Failure(TranscriptRefused(path, problem))
        parent, name = os.path.split(os.path.normpath(path))
        real = os.path.join(os.path.realpath(parent), name)
        if any(_contains(os.path.realpath(root), real) for root in self.roots):
            return Success(real)
        outside = f"it is outside the transcript directories ({self._named()})"
        return Failure(
            TranscriptRefused(path, f"{outside}; add its directory to capture.transcriptRoots if it is yours")
        )

    def _named(self) -> str:
        return ", ".join(self.roots) or "none is known"


def is_session_id(text: str) -> bool:
    """Whether a session id may become part of a file name: letters, digits, `-`, `_` and single dots, at most 128."""
    return bool(_SESSION_ID.fullmatch(text))


def roots_of(home: str | None, directories: Sequence[str], further: Sequence[str] = ()) -> TranscriptRoots:
    """A harness's own directories in their order, and the `further` ones (config, setup). `~` is the home. What is not
    absolute then is no root."""
    roots = [_expanded(directory, home) for directory in (*directories, *further)]
    return TranscriptRoots(tuple(dict.fromkeys(root for root in roots if root.startswith("/"))))


def claude_code_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`$CLAUDE_CONFIG_DIR/projects`, `~/.claude/projects`, and the `further` ones."""
    configs = [config for config in (environ.get("CLAUDE_CONFIG_DIR"), "~/.claude") if config]
    return roots_of(home, [f"{config}/projects" for config in configs], further)


def codex_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`sessions` and `archived_sessions` in `$CODEX_HOME` and in `~/.codex`, and the `further` ones."""
    homes = [config for config in (environ.get("CODEX_HOME"), "~/.codex") if config]
    return roots_of(home, [f"{each}/{kind}" for each in homes for kind in ("sessions", "archived_sessions")], further)


def gemini_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`.gemini/tmp` in `$GEMINI_CLI_HOME` and in `~`, and the `further` ones."""
    homes = [each for each in (environ.get("GEMINI_CLI_HOME"), "~") if each]
    return roots_of(home, [f"{each}/.gemini/tmp" for each in homes], further)


def pi_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`$PI_CODING_AGENT_SESSION_DIR`, `sessions` in `$PI_CODING_AGENT_DIR` and in `~/.pi/agent`, and the `further` ones."""
    own = environ.get("PI_CODING_AGENT_SESSION_DIR")
    configs = [config for config in (environ.get("PI_CODING_AGENT_DIR"), "~/.pi/agent") if config]
    return roots_of(home, [*([own] if own else []), *(f"{config}/sessions" for config in configs)], further)


def goose_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`data/sessions` in `$GOOSE_PATH_ROOT`, `goose/sessions` in the data directory, and the `further` ones."""
    own = environ.get("GOOSE_PATH_ROOT")
    data = [f"{each}/goose/sessions" for each in data_homes(environ)]
    return roots_of(home, [*([f"{own}/data/sessions"] if own else []), *data], further)


def opencode_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`opencode` in the data directory, the directory of `$OPENCODE_DB`, and the `further` ones."""
    named = os.path.dirname(environ.get("OPENCODE_DB", ""))
    return roots_of(home, [*(f"{each}/opencode" for each in data_homes(environ)), *([named] if named else [])], further)


def copilot_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`session-state` in `$COPILOT_HOME` and in `~/.copilot`, and the `further` ones."""
    homes = [config for config in (environ.get("COPILOT_HOME"), "~/.copilot") if config]
    return roots_of(home, [f"{config}/session-state" for config in homes], further)


def cursor_roots(environ: Mapping[str, str], home: str | None, further: Sequence[str] = ()) -> TranscriptRoots:
    """`.cursor/projects`, the `globalStorage` of the editor on Linux and macOS, and the `further` ones."""
    config = environ.get("XDG_CONFIG_HOME")
    editors = [*([config] if config else []), "~/.config", "~/Library/Application Support"]
    stores = [f"{each}/Cursor/User/globalStorage" for each in editors]
    return roots_of(home, ["~/.cursor/projects", *stores], further)


def data_homes(environ: Mapping[str, str]) -> list[str]:
    """Where programs that follow the XDG rules keep their data: `$XDG_DATA_HOME`, `~/.local/share`."""
    own = environ.get("XDG_DATA_HOME")
    return [*([own] if own else []), "~/.local/share"]


def find_transcript(roots: TranscriptRoots, session_id: str, suffix: str = ".jsonl") -> str | None:
    """The newest `<root>/<session-id><suffix>` or `<root>/<project>/<session-id><suffix>`; None where there is none.

    Raises OSError where a directory cannot be looked through: it may hold a newer one (P6)."""
    if not is_session_id(session_id):
        return None
    name = session_id + suffix
    found = [path for root in roots.roots for path in _candidates(root, name)]
    return max(found, key=_changed_at, default=None)


def transcripts_below(roots: TranscriptRoots, is_name: Callable[[str], bool], max_depth: int) -> list[str]:
    """The paths of the files in the roots whose name will do, newest first; directories below `max_depth` levels, and
    linked ones, are not looked into. Raises OSError where one cannot be looked through (P6)."""
    found = {path for root in roots.roots for path in _files_below(root, is_name, max_depth)}
    return sorted(found, key=_changed_at, reverse=True)


@contextmanager
def transcript(
    roots: TranscriptRoots, path: str, session_id: str
) -> Generator[Result[OpenTranscript, TranscriptRefused | HistoryUnavailable], None, None]:
    """The transcript, open until the context ends.

    TranscriptRefused: outside the roots, a symbolic link, no regular file. HistoryUnavailable: missing, or not to be read
    now. Every directory below `/` is opened without following links, so that one exchanged for a link after the check
    is refused, not followed.
    """
    admitted = roots.admit(path)
    if isinstance(admitted, Failure):
        yield admitted
        return
    real = admitted.unwrap()
    try:
        descriptor = _open_without_links(real)
    except OSError as error:
        yield Failure(_refusal(error, path, session_id))
        return
    try:
        yield _described(descriptor, real, session_id)
    finally:
        close_quietly(descriptor)


def file_beside(
    opened: Result[OpenTranscript, TranscriptRefused | HistoryUnavailable], path: str
) -> OpenTranscript | None:
    """What tells more of a session than its transcript; None where there is no such file, or none that may be read. Raises
    OSError where it cannot be opened now: without it the session would be taken for another kind, or of another place (P6)."""
    match sealed(opened):
        case Success(file):
            return file
        case Failure(HistoryUnavailable(reason=reason, is_missing=False)):
            raise OSError(errno.EIO, reason, path)
        case Failure(_):
            return None


def _problem_with(path: str) -> str | None:
    if "\0" in path:
        return "its path holds a NUL"
    if not path.startswith("/"):
        return "its path is not absolute"
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return "its path is not text"
    return None


def _contains(root: str, path: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def _expanded(path: str, home: str | None) -> str:
    path = home + path[1:] if home and (path == "~" or path.startswith("~/")) else path
    return os.path.normpath(path) if path else ""


def _files_below(directory: str, is_name: Callable[[str], bool], max_depth: int) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            found = [(entry.path, entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return
    for path, name, is_directory in found:
        if is_directory and max_depth > 0:
            yield from _files_below(path, is_name, max_depth - 1)
        elif not is_directory and is_name(name):
            yield path


def _candidates(root: str, name: str) -> Iterator[str]:
    try:
        with os.scandir(root) as entries:
            directories = [entry.path for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return
    for directory in [root, *directories]:
        if lies_there(f"{directory}/{name}"):
            yield f"{directory}/{name}"


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except FileNotFoundError:
        return 0


def _described(
    descriptor: int, path: str, session_id: str
) -> Result[OpenTranscript, TranscriptRefused | HistoryUnavailable]:
    try:
        status = os.fstat(descriptor)
    except OSError as error:
        return Failure(_refusal(error, path, session_id))
    if not stat.S_ISREG(status.st_mode):
        return Failure(_not_regular(path, status.st_mode))
    return Success(OpenTranscript(path, descriptor, status.st_size))


class _NotRegularError(OSError):
    """What is there is no regular file; `mode` says what it is."""

    def __init__(self, mode: int) -> None:
        super().__init__()
        self.mode = mode


def _open_without_links(path: str) -> int:
    parts = path.strip("/").split("/")
    directory = os.open("/", _DIRECTORY_FLAGS)
    try:
        for part in parts[:-1]:
            below = os.open(part, _DIRECTORY_FLAGS, dir_fd=directory)
            os.close(directory)
            directory = below
        # Looked at before it is opened: opening a device can have effects of its own.
        mode = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise _NotRegularError(mode)
        return os.open(parts[-1], _FILE_FLAGS, dir_fd=directory)
    finally:
        os.close(directory)


def _refusal(error: OSError, path: str, session_id: str) -> TranscriptRefused | HistoryUnavailable:
    if isinstance(error, _NotRegularError):
        return _not_regular(path, error.mode)
    if error.errno == errno.ELOOP:
        return TranscriptRefused(path, "it is a symbolic link")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return HistoryUnavailable(session_id, f"there is no transcript at {path}", is_missing=True)
    return HistoryUnavailable(session_id, f"{path} cannot be opened: {error.strerror}")


def _not_regular(path: str, mode: int) -> TranscriptRefused:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
    )
    kind = next((kind for matches, kind in kinds if matches(mode)), "a device")
    return TranscriptRefused(path, f"it is {kind}, not a regular file")
