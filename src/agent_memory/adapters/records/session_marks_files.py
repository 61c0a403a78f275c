"""Session marks on disk: `state/sessions/<harness>_<session id>.json`, each replaced as a whole (P2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.paths import directory_inside, inside, read_file, real_root
from agent_memory.domain.history import SessionMark
from agent_memory.domain.text.slug import slug_beginning, slug_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.session_mark_json import parse_session_mark, render_session_mark
from agent_memory.results import sealed

_SESSIONS = "state/sessions"
_ENDING = ".json"
_MAX_BYTES = 4 << 20


class SessionMarksFiles:
    """`SessionMarks` in the directory `state/sessions` of a root."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]:
        """See the port."""
        match sealed(inside(self._root, _path_of(harness, session_id)).bind(lambda path: read_file(path, _MAX_BYTES))):
            case Failure(error):
                return Failure(error)
            case Success(image):
                return Success(None) if image is None else self._parsed(image.data, harness, session_id)

    def put(self, mark: SessionMark) -> Result[None, Error]:
        """See the port."""
        match sealed(directory_inside(self._root, _SESSIONS)):
            case Failure(refused):
                return Failure(refused)
            case Success(directory):
                path = f"{self._root}/{_path_of(mark.harness, mark.session_id)}"
                try:
                    make_directories(directory)
                    replace_file(path, render_session_mark(mark).encode())
                except OSError as error:
                    return Failure(store_io(error, "write", path))
                return Success(None)

    def remove(self, mark: SessionMark) -> Result[str, Error]:
        """Let the session count as never seen; the path of its mark below the root. A mark that is gone counts as removed."""
        path = _path_of(mark.harness, mark.session_id)

        def unlink(absolute: str) -> Result[str, Error]:
            try:
                os.unlink(absolute)
                fsync_directory(os.path.dirname(absolute))
            except FileNotFoundError:
                return Success(path)
            except OSError as error:
                return Failure(store_io(error, "remove", absolute))
            return Success(path)

        return inside(self._root, path).bind(unlink)

    @staticmethod
    def path_of(mark: SessionMark) -> str:
        """Where the mark is, below the root."""
        return _path_of(mark.harness, mark.session_id)

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        """See the port."""
        match sealed(listed_names(f"{self._root}/{_SESSIONS}", _is_mark)):
            case Failure(refused):
                yield Failure(refused)
            case Success(names):
                for name in names:
                    match sealed(self._named(name)):
                        case Failure(error):
                            yield Failure(error)
                        case Success(mark):
                            if mark is not None:  # None: it was forgotten since it was listed
                                yield Success(mark)

    def beginning_with(self, session_id: str, most: int) -> Result[tuple[SessionMark, ...], Error]:
        """The marks of all sessions, of any harness, whose id begins so: at most `most`, by file name."""
        beginnings = tuple(f"{harness}_{slug_beginning(session_id)}" for harness in Harness)

        def first_of(names: tuple[str, ...]) -> Result[tuple[SessionMark, ...], Error]:
            marks: list[SessionMark] = []
            for name in names:
                match sealed(self._named(name)):
                    case Failure(error):
                        return Failure(error)
                    case Success(mark):
                        marks += [mark] if mark is not None and mark.session_id.startswith(session_id) else []
                if len(marks) == most:
                    break
            return Success(tuple(marks))

        return listed_names(f"{self._root}/{_SESSIONS}", lambda name: name.startswith(beginnings)).bind(first_of)

    def _named(self, name: str) -> Result[SessionMark | None, Error]:
        path = f"{_SESSIONS}/{name}"
        return (
            inside(self._root, path)
            .bind(lambda absolute: read_file(absolute, _MAX_BYTES))
            .bind(
                lambda image: (
                    Success(None)
                    if image is None
                    else parse_session_mark(image.data.decode("utf-8", "replace"), f"{self._root}/{path}").map(
                        _as_known
                    )
                )
            )
        )

    def _parsed(self, data: bytes, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]:
        path = f"{self._root}/{_path_of(harness, session_id)}"
        match sealed(parse_session_mark(data.decode("utf-8", "replace"), path)):
            case Failure(error):
                return Failure(error)
            case Success(mark):
                if (mark.harness, mark.session_id) == (harness, session_id):
                    return Success(mark)
                return Failure(StateCorrupt(path, (f"it is the mark of {mark.harness} session {mark.session_id}",)))


def _path_of(harness: Harness, session_id: str) -> str:
    return f"{_SESSIONS}/{harness}_{slug_of(session_id)}{_ENDING}"


def _is_mark(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")


def _as_known(mark: SessionMark) -> SessionMark | None:
    return mark
