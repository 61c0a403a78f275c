"""The readable files of `topics/`, one after the other, so that no more than one body is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from returns.result import Result

from agent_memory.adapters.disk.paths import FileImage
from agent_memory.adapters.store.entry_files import read_image, understand, understand_again
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.entry import Listed, StoredEntry, UnreadableFile
from agent_memory.errors import EntryUnreadable, Error
from agent_memory.formats.written_tags import written_tags
from agent_memory.values import evolve


def read_notes(root: str, live: Iterable[Listed]) -> Iterator[NoteFile]:
    """The files of these entries. One that is gone or has become unreadable since the listing is left out."""
    for listed in live:
        if (note := read_note(root, listed.path)) is not None:
            yield note


def read_copies(root: str, unreadable: Sequence[UnreadableFile], live: Sequence[Listed]) -> Iterator[NoteFile]:
    """Files that are only unreadable because another one bears their id."""
    if not unreadable:
        return
    path_of = {each.meta.id: each.path for each in live}
    for file in unreadable:
        note = read_note(root, file.path)
        original = None if note is None else path_of.get(note.stored.meta.id)
        if note is not None and original is not None and original != file.path:
            yield evolve(note, copy_of=original)


def read_note(root: str, path: str) -> NoteFile | None:
    """The file; None for one that is gone, cannot be read, or is no note."""
    return _read(root, path, lambda image: understand(path, image.data, image.mtime_ns)).value_or(None)


def read_again(root: str, listed: Listed) -> Result[NoteFile | None, Error]:
    """The file of an entry that was listed; None for one that is gone, or no note any more. What its bytes say is not found
    out once more while they are the same."""
    return _read(root, listed.path, lambda image: understand_again(listed, image.data, image.mtime_ns))


def _read(
    root: str, path: str, understood: Callable[[FileImage], Result[StoredEntry, EntryUnreadable]]
) -> Result[NoteFile | None, Error]:
    def note_in(image: FileImage | None) -> NoteFile | None:
        if image is None:
            return None
        return understood(image).map(lambda stored: _note(path, image, stored)).value_or(None)

    return read_image(root, path).map(note_in)


def _note(path: str, image: FileImage, stored: StoredEntry) -> NoteFile:
    text = image.data.decode()
    return NoteFile(path, text, stored, written_tags(text, stored.meta.tags), image.mtime_ns // 1_000_000)
