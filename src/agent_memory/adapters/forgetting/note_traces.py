"""The files of notes, live and archived, with every version: what of them goes, and what is rewritten."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import FileImage, directory_inside
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, read_image, understand
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.forgetting.sources import SessionKey, share_of, without_session
from agent_memory.domain.forgetting.unlinking import unlinked
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.domain.text.ids import ID_PATTERN, is_id
from agent_memory.errors import Error
from agent_memory.formats.note import render_note
from agent_memory.results import sealed

_ANY_ID = re.compile(ID_PATTERN)


@frozen
class NoteFile:
    """One file below `topics/` or `archive/`. `stored` is None for one that is no entry."""

    path: str
    image: FileImage
    stored: StoredEntry | None

    @property
    def id(self) -> str | None:
        """The entry's: as the file states it, else as its name or directory does."""
        return id_at(self.path) if self.stored is None else self.stored.meta.id

    @property
    def live(self) -> bool:
        return self.path.startswith(f"{TOPICS}/")


@frozen
class NoteTraces:
    """What is to become of the files of notes."""

    removed: tuple[NoteFile, ...] = ()
    shared: tuple[NoteFile, ...] = ()
    """From which the session is taken out as a source."""
    changes: tuple[FileChange, ...] = ()
    """All of it, and what is rewritten in other notes, as one transaction."""
    linked: tuple[str, ...] = ()
    kept_ids: frozenset[str] = field(default=frozenset())
    """Ids of which some file stays."""


def id_at(path: str) -> str | None:
    """The id that a path states: `archive/<id>/…`, or the last one in the file's name."""
    directory, _, name = path.rpartition("/")
    owner = directory.rpartition("/")[2]
    found = _ANY_ID.findall(name)
    return owner if is_id(owner) else found[-1] if found else None


def traces_of_entry(root: str, id: str) -> Result[NoteTraces, Error]:
    """All files of an entry, and the other notes that know of it."""
    return _traces(root, lambda file: "all" if id in (file.id, id_at(file.path)) else "none", None, frozenset((id,)))


def traces_of_session(root: str, session: SessionKey, recorded: frozenset[str]) -> Result[NoteTraces, Error]:
    """All files that come from the session alone, those that come from others as well, and the notes that know of an
    entry of which nothing stays. `recorded` are the entries that were recorded as made of the session."""

    def share(file: NoteFile) -> str:
        return "none" if file.stored is None else share_of(file.stored.meta, session, recorded)

    return _traces(root, share, session, frozenset())


def note_files(root: str) -> Iterator[Result[NoteFile, Error]]:
    """Every file of a note, one at a time, in order; an error where one cannot be looked at (P6)."""
    for directory in (TOPICS, ARCHIVE):
        match sealed(_names(root, directory)):
            case Failure(error):
                yield Failure(error)
            case Success(names):
                for name in names:
                    yield from _below(root, directory, name)


def _below(root: str, directory: str, name: str) -> Iterator[Result[NoteFile, Error]]:
    path = f"{directory}/{name}"
    if directory == ARCHIVE and is_id(name):
        match sealed(_names(root, path)):
            case Failure(error):
                yield Failure(error)
            case Success(versions):
                for version in versions:
                    yield from _read(root, f"{path}/{version}")
    else:
        yield from _read(root, path)


def _read(root: str, path: str) -> Iterator[Result[NoteFile, Error]]:
    if not is_note_name(path.rpartition("/")[2]):
        return
    match sealed(read_image(root, path)):
        case Failure(error):
            yield Failure(error)
        case Success(None):
            return
        case Success(image):
            if image is not None:
                yield Success(NoteFile(path, image, understand(path, image.data, image.mtime_ns).value_or(None)))


def _names(root: str, directory: str) -> Result[list[str], Error]:
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                return Success(sorted(os.listdir(path)))
            except (FileNotFoundError, NotADirectoryError):
                return Success([])
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _traces(
    root: str, share: Callable[[NoteFile], str], session: SessionKey | None, ids: frozenset[str]
) -> Result[NoteTraces, Error]:
    removed: list[NoteFile] = []
    shared: list[NoteFile] = []
    kept: set[str] = set()
    for found in note_files(root):
        if isinstance(found, Failure):
            return found
        file = found.unwrap()
        whose = share(file)
        if whose == "all":
            removed.append(file)
            continue
        if whose == "some":
            shared.append(file)
        if file.id is not None:
            kept.add(file.id)
    gone = ids | {file.id for file in removed if file.id is not None and file.id not in kept}
    return _with_other_notes(root, gone, NoteTraces(tuple(removed), tuple(shared), kept_ids=frozenset(kept)), session)


def _with_other_notes(
    root: str, gone: frozenset[str] | set[str], traces: NoteTraces, session: SessionKey | None
) -> Result[NoteTraces, Error]:
    """A second look, now that it is known what goes: other notes may come before it in order."""
    removed = {file.path for file in traces.removed}
    shared = {file.path for file in traces.shared}
    changes = [FileChange(file.path, _state(file), None) for file in traces.removed]
    linked: dict[str, None] = {}
    for found in note_files(root):
        if isinstance(found, Failure):
            return found
        file = found.unwrap()
        if file.path in removed or file.stored is None:
            continue
        entry = file.stored.entry
        if session is not None and file.path in shared:
            entry = evolve(entry, meta=without_session(entry.meta, session))
        if file.live:
            freed = unlinked(entry, gone)
            linked |= {} if freed == entry else {file.stored.meta.id: None}
            entry = freed
        if entry != file.stored.entry:
            changes.append(_rewritten(file, entry))
    return Success(evolve(traces, changes=tuple(changes), linked=tuple(linked)))


def _rewritten(file: NoteFile, entry: MemoryEntry) -> FileChange:
    text = render_note(entry, file.image.data.decode("utf-8"))
    return FileChange(file.path, _state(file), FileState(text.encode("utf-8"), file.image.mtime_ns))


def _state(file: NoteFile) -> FileState:
    return FileState(file.image.data, file.image.mtime_ns)
