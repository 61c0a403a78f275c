"""What a store in memory holds, and the same as files: what the two shelves and `state/tiers.json` would be on disk."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field, frozen
from returns.result import Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.formats.tiers_json import parse_tiers, render_tiers


@frozen
class DictNote:
    """One file."""

    path: str
    text: str

    @property
    def hash(self) -> str:
        """Of its bytes."""
        return content_hash(self.text.encode())

    @property
    def stored(self) -> StoredEntry:
        """Only of notes that were readable when they came in."""
        return understand(self.path, self.text.encode(), 0).unwrap()


@define
class DictShelves:
    """What changes together, so that a copy of it can be thrown away."""

    live: dict[str, DictNote] = field(factory=dict[str, DictNote])
    retired: dict[str, DictNote] = field(factory=dict[str, DictNote])
    versions: dict[str, dict[int, DictNote]] = field(factory=dict[str, dict[int, DictNote]])
    """By id and millisecond."""
    unreadable: dict[str, str] = field(factory=dict[str, str])
    """Texts by path, in `topics/`."""
    tiers: TierList | None = None

    def copy(self) -> DictShelves:
        """The same, to be changed."""
        versions = {id: dict(notes) for id, notes in self.versions.items()}
        return DictShelves(dict(self.live), dict(self.retired), versions, dict(self.unreadable), self.tiers)

    def archived(self) -> dict[str, DictNote]:
        """The newest archived note of each id."""
        return {**{id: notes[max(notes)] for id, notes in self.versions.items() if notes}, **self.retired}

    def bearers(self, id: str) -> tuple[DictNote, ...]:
        """The live notes with this id or alias, compared without case, by path."""
        wanted = id.casefold()
        found = [note for note in self.live.values() if wanted in borne_by(note)]
        return tuple(sorted(found, key=lambda note: note.path))

    def files(self) -> dict[str, bytes]:
        """The bytes of every file, by path."""
        versions = [note for notes in self.versions.values() for note in notes.values()]
        texts = {note.path: note.text for note in (*self.live.values(), *self.retired.values(), *versions)}
        files = {path: text.encode() for path, text in (texts | self.unreadable).items()}
        return files if self.tiers is None else {**files, TIERS_FILE: render_tiers(self.tiers)}


def borne_by(note: DictNote) -> tuple[str, ...]:
    """The ids under which a note is found, casefolded."""
    meta = note.stored.meta
    return tuple(id.casefold() for id in (meta.id, *meta.aliases))


def shelves_of(files: Mapping[str, bytes]) -> DictShelves:
    """The shelves whose `files` these are."""
    shelves = DictShelves()
    for path, data in files.items():
        if path == TIERS_FILE:
            shelves.tiers = parse_tiers(data, path).unwrap()
            continue
        note = DictNote(path, data.decode())
        match understand(path, data, 0), path.split("/"):
            case Success(), [shelf, _] if shelf == TOPICS:
                shelves.live[note.stored.meta.id] = note
            case Success(), [shelf, _] if shelf == ARCHIVE:
                shelves.retired[note.stored.meta.id] = note
            case Success(), [_, id, name]:
                shelves.versions.setdefault(id, {})[int(name.removesuffix(".md"))] = note
            case _:
                shelves.unreadable[path] = note.text
    return shelves
