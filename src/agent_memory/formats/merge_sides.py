"""One side of a merge: its notes by id, every other file by path, and what was forgotten there (P28). Contents are handed in, by
object id."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone, forgotten_note
from agent_memory.domain.forgetting.traces import SessionKey, share_of, without_session
from agent_memory.domain.merging.tree import EMPTY, MAX_FILE_BYTES, PLAIN_MODES, Held, Leaf, Tree
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import StateCorrupt
from agent_memory.formats.bookkeeping_json import parse_tombstone
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.formats.note import parse_note

TOPICS = "topics/"
ARCHIVE = "archive/"


@frozen
class Place:
    """Where one side has a note."""

    path: str
    leaf: Leaf

    @property
    def live(self) -> bool:
        return self.path.startswith(TOPICS)


@frozen
class Side:
    notes: Mapping[str, Place]
    others: Tree


@frozen
class Forgotten:
    """All tombstones of both sides."""

    entries: Mapping[str, EntryTombstone] = field(factory=dict[str, EntryTombstone])
    sessions: tuple[SessionTombstone, ...] = ()
    states: Mapping[str, int] = field(factory=dict[str, int])
    """When state values were purged (epoch ms), by the paths of their files."""

    def takes_id(self, id: str | None) -> bool:
        return id is not None and id in self.entries

    def left_of(self, entry: MemoryEntry, *, is_new: bool) -> MemoryEntry | None:
        """What may stay of an entry: None, or the entry without the sessions that were forgotten among its sources. A new
        one that says what a forgotten note said, and was made before that was forgotten, goes, too."""
        tombstone = self.entries.get(entry.meta.id)
        if tombstone is not None and entry.meta.created_at_ms <= tombstone.at_ms:
            return None
        meta = entry.meta
        for each in self.sessions:
            session = SessionKey(each.session_id, each.harness)
            share = share_of(meta, session)
            if share == "all":
                return None
            if share == "some":
                meta = without_session(meta, session)
        if is_new and forgotten_note(self.entries.values(), meta.title, entry.body, meta.created_at_ms) is not None:
            return None
        return entry if meta is entry.meta else MemoryEntry(meta, entry.body)


@frozen
class Contents:
    """What blobs hold, by object id; what is not there was not needed, or is too large to be ours."""

    by_id: Mapping[str, bytes]

    def of(self, held: Held | None) -> bytes | None:
        return self.by_id.get(held.object_id) if isinstance(held, Leaf) else held

    def entry(self, path: str, held: Held | None) -> MemoryEntry | None:
        """The readable entry in a file."""
        data = self.of(held)
        return None if data is None else parse_note(data, path, 0).map(lambda note: note.entry).value_or(None)

    def side(self, tree: Tree) -> Side:
        """The notes of a tree by id, live ones first: of two files of one id the second is some other file."""
        notes: dict[str, Place] = {}
        others: dict[str, Leaf] = {}
        for path in sorted(tree, key=lambda each: (not each.startswith(TOPICS), each)):
            id = self._id_at(path, tree[path]) if is_note(path) else None
            if id is None or id in notes:
                others[path] = tree[path]
            else:
                notes[id] = Place(path, tree[path])
        return Side(notes, others)

    def forgotten(self, *trees: Tree) -> Forgotten:
        """All tombstones in these trees."""
        entries: dict[str, EntryTombstone] = {}
        sessions: dict[SessionTombstone, None] = {}
        states: dict[str, int] = {}
        for path, leaf in ((path, leaf) for tree in trees for path, leaf in tree.items() if path.startswith(FORGOTTEN)):
            try:
                parsed = parse_tombstone(self.of(leaf) or b"", path)
            except StateCorrupt:
                continue
            match parsed:
                case EntryTombstone() as tombstone:
                    known = entries.setdefault(tombstone.id, tombstone)
                    entries[tombstone.id] = max(known, tombstone, key=lambda each: each.at_ms)
                case SessionTombstone() as tombstone:
                    sessions[tombstone] = None
                case StateTombstone(kept_at, at_ms):
                    states[kept_at] = max(states.get(kept_at, 0), at_ms)
        return Forgotten(entries, tuple(sessions), states)

    def successors(self, *sides: Side) -> Mapping[str, str]:
        """Which live note has taken in (`aliases`) or replaced (`supersedes`) an id."""
        found: dict[str, str] = {}
        for side in sides:
            for id, place in side.notes.items():
                if place.live and (entry := self.entry(place.path, place.leaf)) is not None:
                    found |= dict.fromkeys((*entry.meta.aliases, *entry.meta.supersedes), id)
        return found

    def _id_at(self, path: str, leaf: Leaf) -> str | None:
        if named := id_in_name(path.rpartition("/")[2]):
            return named
        note = parse_note(self.of(leaf) or b"", path, 0).value_or(None)
        return None if note is None or note.provisional_id else note.meta.id


def is_note(path: str) -> bool:
    """Whether a path is that of a live or retired note; versions lie deeper."""
    return path.endswith(".md") and path.count("/") == 1 and path.startswith((TOPICS, ARCHIVE))


def wanted_contents(base: Tree | None, ours: Tree, theirs: Tree) -> frozenset[str]:
    """The object ids whose contents a merge looks at: all that is not the same on both sides, notes whose names state no
    id, tombstones and tiers."""
    return frozenset(
        leaf.object_id
        for tree in (base or EMPTY, ours, theirs)
        for path, leaf in tree.items()
        if leaf.size_bytes <= MAX_FILE_BYTES
        and leaf.mode in PLAIN_MODES
        and (ours.get(path) != theirs.get(path) or _is_always_read(path))
    )


def _is_always_read(path: str) -> bool:
    if path.startswith(FORGOTTEN) or path == TIERS_FILE:
        return True
    return is_note(path) and id_in_name(path.rpartition("/")[2]) is None
