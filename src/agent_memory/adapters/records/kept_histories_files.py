"""Kept histories on disk: `histories/<harness>_<session>.<first turn>-<hash>.jsonl.gz`, one file a part.

A part never changes once it is written, and the same part again has the same name; so a run that was killed after it had
kept a part keeps it again in the same place. The lines are those of `formats.history_lines`, compressed with gzip.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.paths import FileImage, directory_inside, read_file, real_root
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.kept_history import KeptPart, KeptSession, joined_history
from agent_memory.domain.text.slug import slug_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.history_lines import parse_history_lines, render_history_lines
from agent_memory.results import sealed

DIRECTORY = "histories"
ENDING = ".jsonl.gz"

_MAX_FILE_BYTES = 64 << 20
_MAX_TEXT_BYTES = 256 << 20
"""Of a part, unpacked: a fetch returns about 16 MiB of turns, which escaped take a few times as much."""
_COMPRESSION = 6


@frozen
class KeptHistoriesFiles:
    """`ports.KeptHistories` in the directory `histories` of a root."""

    root: Path
    cap_bytes: int

    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        """See the port. A part larger than the cap is not kept, and does not make the others go."""
        if not history.turns:
            return Success(None)
        packed = _packed(KeptPart(history, after_record_id))
        if len(packed) > self.cap_bytes:
            return Success(None)

        def written(directory: str) -> Result[None, Error]:
            path = f"{directory}/{_name_of(history)}"
            try:
                make_directories(directory)
                replace_file(path, packed)
            except OSError as error:
                return Failure(store_io(error, "write", path))
            return self._make_room(directory, f"{_session_name(history.harness, history.session_id)}.")

        return self._directory().bind(written)

    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> Result[History | None, Error]:
        """See the port. StateCorrupt: a part that cannot be understood, or is another session's."""

        def joined(names: tuple[str, ...]) -> Result[History | None, Error]:
            parts = self._parts(names, harness, session_id)
            try:
                return Success(joined_history(parts, mark))
            except _PartError as refused:
                return Failure(refused.error)

        return self._names(f"{_session_name(harness, session_id)}.").bind(joined)

    def sessions(self) -> Result[tuple[KeptSession, ...], Error]:
        """See the port."""
        return self._directory().bind(_sessions_in)

    def forget(self, harness: Harness, session_id: str) -> Result[None, Error]:
        """See the port."""
        beginning = f"{_session_name(harness, session_id)}."
        return self._directory().bind(lambda directory: _removed(directory, beginning))

    def _directory(self) -> Result[str, Error]:
        return directory_inside(real_root(self.root), DIRECTORY)

    def _names(self, beginning: str) -> Result[tuple[str, ...], Error]:
        return self._directory().bind(lambda directory: _names_in(directory, beginning))

    def _parts(self, names: tuple[str, ...], harness: Harness, session_id: str) -> Iterator[KeptPart]:
        for name in names:
            path = f"{real_root(self.root)}/{DIRECTORY}/{name}"
            match sealed(read_file(path, _MAX_FILE_BYTES).bind(partial(_part_in, path))):
                case Failure(error):
                    raise _PartError(error)
                case Success(part):
                    if part is None:  # it made room for another, or was forgotten, since it was listed
                        continue
                    if (part.history.harness, part.history.session_id) != (harness, session_id):
                        named = f"{part.history.harness} session {part.history.session_id}"
                        raise _PartError(StateCorrupt(path, (f"it is the history of {named}",)))
                    yield part

    def _make_room(self, directory: str, latest: str) -> Result[None, Error]:
        """Remove the sessions kept longest ago until the rest is within the cap; the latest goes last."""
        match sealed(_sessions_in(directory)):
            case Failure(error):
                return Failure(error)
            case Success(sessions):
                over = sum(each.size_bytes for each in sessions) - self.cap_bytes
                for each in sorted(sessions, key=lambda each: f"{each.name}." == latest):
                    if over <= 0:
                        break
                    removed = _removed(directory, f"{each.name}.")
                    if isinstance(removed, Failure):
                        return removed
                    over -= each.size_bytes
                return Success(None)


class _PartError(Exception):
    """Carries the error of one part out of the generator of parts."""

    def __init__(self, error: Error) -> None:
        super().__init__()
        self.error = error


def _session_name(harness: Harness, session_id: str) -> str:
    # A dot ends it in the names of its parts, so that no session's name begins another's.
    return f"{harness}_{slug_of(session_id).replace('.', '~')}"


def _name_of(history: History) -> str:
    first = history.turns[0]
    digest = sha256(first.record_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_session_name(history.harness, history.session_id)}.{first.number:08d}-{digest}{ENDING}"


def _packed(part: KeptPart) -> bytes:
    packed = io.BytesIO()
    # Without a time of its own, the same part has the same bytes.
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=_COMPRESSION, mtime=0) as file:
        for line in render_history_lines(part):
            file.write(line.encode("ascii"))
    return packed.getvalue()


def _part_in(path: str, image: FileImage | None) -> Result[KeptPart | None, Error]:
    if image is None:
        return Success(None)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(image.data)) as file:
            text = file.read(_MAX_TEXT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as damaged:
        return Failure(StateCorrupt(path, (f"it cannot be unpacked: {damaged}",)))
    if len(text) > _MAX_TEXT_BYTES:
        return Failure(StateCorrupt(path, (f"unpacked it is larger than {_MAX_TEXT_BYTES >> 20} MiB",)))
    lines = io.TextIOWrapper(io.BytesIO(text), "ascii", "replace")
    return parse_history_lines(lines, path).map(_as_found).alt(_as_error)


def _as_found(part: KeptPart) -> KeptPart | None:
    return part


def _as_error(error: StateCorrupt) -> Error:
    return error


def _names_in(directory: str, beginning: str) -> Result[tuple[str, ...], Error]:
    return listed_names(directory, lambda name: name.startswith(beginning) and _is_part(name))


def _is_part(name: str) -> bool:
    return name.endswith(ENDING) and not name.startswith(".")


def _sessions_in(directory: str) -> Result[tuple[KeptSession, ...], Error]:
    found: dict[str, KeptSession] = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not _is_part(entry.name) or not entry.is_file(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
                name = entry.name.partition(".")[0]
                known = found.get(name, KeptSession(name, 0, 0))
                kept_at_ms = max(known.kept_at_ms, status.st_mtime_ns // 1_000_000)
                found[name] = KeptSession(name, known.size_bytes + status.st_size, kept_at_ms)
    except FileNotFoundError:
        return Success(())
    except OSError as error:
        return Failure(store_io(error, "list", directory))
    return Success(tuple(sorted(found.values(), key=lambda each: (each.kept_at_ms, each.name))))


def _removed(directory: str, beginning: str) -> Result[None, Error]:
    match sealed(_names_in(directory, beginning)):
        case Failure(error):
            return Failure(error)
        case Success(names):
            try:
                # The beginning goes first: what is left after a crash is never taken for a whole session.
                for name in sorted(names):
                    os.unlink(f"{directory}/{name}")
                if names:
                    fsync_directory(directory)
            except FileNotFoundError:
                return _removed(directory, beginning)
            except OSError as error:
                return Failure(store_io(error, "remove", f"{directory}/{beginning}*"))
            return Success(None)
