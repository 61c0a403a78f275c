"""What forgetting keeps on disk (tombstones, the journal of a forgetting at work, the mark of a purge), and where what is forgotten
has left traces among notes, live and archived with every version, and in the inbox (P28).

Tombstones are `state/forgotten/<harness>_<session>.json`, `any_<session>.json`, `<entry's id>.json` and `state_<key>.json`: a
hook sees by a name alone that a session is not to be captured, and two machines never write the same file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen

from agent_memory.adapters.disk.paths import (
    FileImage,
    JsonFile,
    directory_in,
    files_below,
    names_below,
    names_in,
    read_bytes,
    real_root,
    those_there,
)
from agent_memory.adapters.inbox.hook_files import INBOX
from agent_memory.adapters.inbox.inbox_files import FAILED, MAX_RETIRED_BYTES, PROCESSED, REASON_ENDING, is_entry_name
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, entry_or_none, read_image
from agent_memory.domain.change import FileChange, FileState
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.forgetting import (
    EntryTombstone,
    ForgetTarget,
    ForgettingAtWork,
    SessionKey,
    SessionTombstone,
    StateTombstone,
    share_of,
    unlinked,
    without_session,
)
from agent_memory.domain.queue import SNAPSHOTS, FileSnapshot, InlineNote, queue_key, session_id_of
from agent_memory.domain.text.file_name import ID_PATTERN, is_id, is_note_name, slug_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import PathRefused, StateCorrupt
from agent_memory.formats.bookkeeping_json import FORGETTING, PURGE, TOMBSTONE, Tombstone
from agent_memory.formats.inbox_json import parse_inbox_entry
from agent_memory.formats.note import render_note
from agent_memory.results import as_result

FORGOTTEN = "state/forgotten"
ANY_HARNESS = "any"
JOURNAL = "runs/forgetting.json"
PURGE_MARK = "state/purge.json"
_MAX_BYTES = 64 << 20


@frozen
class TombstoneFiles:
    """`ports.Tombstones` in the directory `state/forgotten` of a root."""

    root: Path

    @as_result
    def of_session(self, harness: Harness, session_id: str) -> SessionTombstone | None:
        """See the port. A file that is another session's is StateCorrupt."""
        for whose in (harness, None):
            path = session_path(whose, session_id)
            tombstone = self._read(path)
            if tombstone is None:
                continue
            if isinstance(tombstone, SessionTombstone) and (tombstone.session_id, tombstone.harness) == (
                session_id,
                whose,
            ):
                return tombstone
            raise StateCorrupt(f"{real_root(self.root)}/{path}", ("it tells of something else",))
        return None

    @as_result
    def of_entries(self) -> tuple[EntryTombstone, ...]:
        """See the port; by id."""
        directory = f"{real_root(self.root)}/{FORGOTTEN}"
        names = names_in(directory, lambda name: name.startswith("id__") and name.endswith(".json"))
        found = (self._read(f"{FORGOTTEN}/{name}") for name in names)
        return tuple(each for each in found if isinstance(each, EntryTombstone))

    @as_result
    def put(self, tombstone: Tombstone) -> None:
        JsonFile(self.root, path_of(tombstone), TOMBSTONE).write(tombstone)

    def _read(self, path: str) -> Tombstone | None:
        return JsonFile(self.root, path, TOMBSTONE).read()


def path_of(tombstone: Tombstone) -> str:
    if isinstance(tombstone, EntryTombstone):
        return f"{FORGOTTEN}/{tombstone.id}.json"
    if isinstance(tombstone, StateTombstone):
        return f"{FORGOTTEN}/state_{tombstone.path.rpartition('/')[2]}"
    return session_path(tombstone.harness, tombstone.session_id)


def session_path(harness: str | None, session_id: str) -> str:
    """Where the tombstone of a session is kept, relative to the root."""
    return f"{FORGOTTEN}/{harness or ANY_HARNESS}_{slug_of(session_id)}.json"


def journal_of(root: Path) -> JsonFile[ForgettingAtWork]:
    """The forgetting that was begun and not finished."""
    return JsonFile(root, JOURNAL, FORGETTING, _MAX_BYTES)


def purge_mark_of(root: Path) -> JsonFile[int]:
    """When the git history was last rewritten (epoch ms): until clones are told, nothing is to be pushed or pulled."""
    return JsonFile(root, PURGE_MARK, PURGE)


_ANY_ID = re.compile(ID_PATTERN)


# -- notes ------------------------------------------------------------------------------------------------------------


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

    @property
    def state(self) -> FileState:
        return FileState(self.image.data, self.image.mtime_ns)


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


def id_at(path: str) -> str | None:
    """The id that a path states: `archive/<id>/…`, or the last one in the file's name."""
    directory, _, name = path.rpartition("/")
    owner = directory.rpartition("/")[2]
    found = _ANY_ID.findall(name)
    return owner if is_id(owner) else found[-1] if found else None


def note_files(root: str) -> Iterator[NoteFile]:
    """Every file of a note, one at a time, in order; an error where one cannot be looked at (P6)."""
    for directory in (TOPICS, ARCHIVE):
        for found in sorted(files_below(directory_in(root, directory))):
            path = found.removeprefix(f"{root}/")
            parent, _, name = path.rpartition("/")
            is_in_place = parent == directory or (directory == ARCHIVE and is_id(parent.removeprefix(f"{ARCHIVE}/")))
            if is_in_place and is_note_name(name) and (image := read_image(root, path)) is not None:
                yield NoteFile(path, image, entry_or_none(path, image.data, image.mtime_ns))


def traces_of(root: str, target: ForgetTarget, recorded: frozenset[str]) -> NoteTraces:
    """Of an entry all files, and the other notes that know of it. Of a session all files that come from it alone, those that
    come from others as well, and the notes that know of an entry of which nothing stays; `recorded` are the entries that were
    recorded as made of it."""
    id, session = target.id or "", target.session

    def share(file: NoteFile) -> str:
        if session is None:
            return "all" if id in (file.id, id_at(file.path)) else "none"
        return "none" if file.stored is None else share_of(file.stored.meta, session, recorded)

    files = [(file, share(file)) for file in note_files(root)]
    removed = tuple(file for file, whose in files if whose == "all")
    kept_ids = frozenset(file.id for file, whose in files if whose != "all" and file.id is not None)
    gone = {file.id for file in removed if file.id is not None and file.id not in kept_ids}
    gone |= {id} if session is None else set()
    changes = [FileChange(file.path, file.state, None) for file in removed]
    linked: dict[str, None] = {}
    for file, whose in files:
        if whose == "all" or file.stored is None:
            continue
        entry = file.stored.entry
        if whose == "some" and session is not None:
            entry = MemoryEntry(without_session(entry.meta, session), entry.body)
        if file.live:
            freed = unlinked(entry, gone)
            linked |= {} if freed == entry else {file.stored.meta.id: None}
            entry = freed
        if entry != file.stored.entry:
            text = render_note(entry, file.image.data.decode("utf-8"))
            after = FileState(text.encode("utf-8"), file.image.mtime_ns)
            changes.append(FileChange(file.path, file.state, after))
    shared = tuple(file for file, whose in files if whose == "some")
    return NoteTraces(removed, shared, tuple(changes), tuple(linked), kept_ids)


# -- the inbox --------------------------------------------------------------------------------------------------------


def inbox_traces(
    root: str, session: SessionKey | None, ids: frozenset[str]
) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """Every file (relative to the root) that names the session, malformed ones too, and notes and copies of files that these
    entries were made of: they hold the text. Then the keys under which their trouble is kept, and the ids of the entries
    that were recorded as made of what is in them."""
    paths: dict[str, None] = {}
    keys: set[str] = set()
    made: set[str] = set()
    found = [
        f"{place}/{name}" for place in (INBOX, PROCESSED, FAILED) for name in names_below(root, place, is_entry_name)
    ]
    for path in found:
        try:
            data = read_bytes(root, path, MAX_RETIRED_BYTES)
        except PathRefused:
            continue  # a link, a directory, something huge: no entry of ours, and nothing of it was ever read
        if data is None:
            continue
        text = data.decode("utf-8", "replace")
        entry = parse_inbox_entry(text).value_or(None)
        beside = [f"{path}{REASON_ENDING}"]
        if entry is None:
            if session is None or session.session_id.encode("utf-8", "surrogatepass") not in data:
                continue
        else:
            made_of_it = frozenset[str]() if entry.outcome is None else frozenset(entry.outcome.entry_ids)
            named = None if session is None else (session.session_id, session.harness or entry.harness)
            holds_text = isinstance(entry.retrieval, InlineNote | FileSnapshot) and not ids.isdisjoint(made_of_it)
            if (session_id_of(entry), entry.harness) != named and not holds_text:
                continue
            made |= made_of_it
            keys.add(queue_key(entry, path.rpartition("/")[2]))
            if isinstance(entry.retrieval, FileSnapshot):  # the copy that it names, wherever it was moved
                copy = os.path.basename(entry.retrieval.path)
                beside += [f"{place}/{copy}" for place in (SNAPSHOTS, PROCESSED, FAILED)]
        paths |= dict.fromkeys((path, *those_there(root, beside)))
    return tuple(paths), frozenset(keys), frozenset(made)
