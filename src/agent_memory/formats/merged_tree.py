"""Two commits of a store with their common ancestor, merged to one tree: notes by id, what we keep beside them by what it
means, everything else by path.

Nothing is lost: what one machine removed and the other changed stays changed; of two versions that cannot be one, both
stay. Only what was forgotten goes (P28). Pure: contents are handed in, by object id.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field, frozen

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.forgetting import (
    EntryTombstone,
    SessionKey,
    SessionTombstone,
    StateTombstone,
    forgotten_note,
    share_of,
    without_session,
)
from agent_memory.domain.merging import (
    EMPTY,
    MAX_FILE_BYTES,
    PLAIN_MODES,
    Held,
    Leaf,
    MergedTree,
    Remark,
    Tree,
    chosen,
    why_outside,
)
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, IGNORED
from agent_memory.domain.text.file_name import file_name_of, folded_name, id_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import StateCorrupt
from agent_memory.formats.bookkeeping_json import parse_state_value, parse_tombstone
from agent_memory.formats.frontmatter import has_conflict
from agent_memory.formats.merged_bookkeeping import FORGOTTEN, merged_bookkeeping
from agent_memory.formats.merged_note import merged_note
from agent_memory.formats.note import parse_note, render_note
from agent_memory.formats.tiers_json import parse_tiers, render_tiers

TOPICS = "topics/"
ARCHIVE = "archive/"


def merged_tree(base: Tree | None, ours: Tree, theirs: Tree, contents: Mapping[str, bytes]) -> MergedTree:
    """The tree of both. `base` is None where the two have no common history; `contents` holds at least what
    `wanted_contents` names."""
    known = Contents(contents)
    admitted = [_admitted(each) for each in (base or EMPTY, ours, theirs)]
    before, mine, other = map(known.side, admitted)
    merge = _Merge(
        base=base or EMPTY,
        has_base=base is not None,
        ours=ours,
        theirs=theirs,
        contents=known,
        forgotten=known.forgotten(*admitted[1:]),
        successors=known.successors(mine, other),
    )
    for id in dict.fromkeys((*mine.notes, *other.notes)):
        merge.note(id, before.notes.get(id), mine.notes.get(id), other.notes.get(id))
    for path in sorted({*mine.others, *other.others}):
        merge.file(path, before.others.get(path), mine.others.get(path), other.others.get(path))
    merge.settle_tiers()
    merge.files[IGNORE_FILE] = merge.ignore_file()
    outside = {path: leaf for path, leaf in merge.outside().items() if path not in merge.files}
    return MergedTree(
        files={**outside, **merge.files},
        outside=frozenset(outside),
        conflicts=tuple(merge.conflicts),
        remarks=tuple(merge.remarks),
        forgotten=merge.forgotten_count,
    )


def _admitted(tree: Tree) -> Tree:
    return {path: leaf for path, leaf in tree.items() if path != IGNORE_FILE and why_outside(path, leaf) is None}


@define
class _Merge:
    """What is decided so far, and how."""

    base: Tree
    has_base: bool
    ours: Tree
    theirs: Tree
    contents: Contents
    forgotten: Forgotten
    successors: Mapping[str, str]
    files: dict[str, Held] = field(factory=dict[str, Held])
    conflicts: list[Remark] = field(factory=list[Remark])
    remarks: list[Remark] = field(factory=list[Remark])
    forgotten_count: int = 0
    _taken: set[str] = field(factory=set[str])

    # -- notes --------------------------------------------------------------------------------------------------------

    def note(self, id: str, base: Place | None, ours: Place | None, theirs: Place | None) -> None:
        """One note, which at least one side has."""
        if ours == theirs or (self.has_base and theirs == base):
            self.keep(id, ours)
        elif self.has_base and ours == base:
            self.keep(id, theirs, is_new=base is None)
        elif ours is None or theirs is None:
            if base is not None:
                self.remark(id, "was removed on one machine and changed on the other: it stays")
            self.keep(id, ours or theirs, is_new=base is None)
        elif ours.live != theirs.live:
            self._archived(id, ours if ours.live else theirs, theirs if ours.live else ours)
        else:
            self._versions(id, base, ours, theirs)

    def _archived(self, id: str, live: Place, retired: Place) -> None:
        """Archived on one machine, changed on the other: the change wins, unless another note has taken its place."""
        successor = self.successors.get(id)
        if successor is None:
            self.remark(id, "was archived on one machine and changed on the other: it stays live")
            self.keep(id, live)
            return
        became = f"went into {successor} on one machine and was changed on the other: the change is in the archive"
        self.remark(id, became)
        self.keep(id, retired)
        self.keep_version(id, live)

    def _versions(self, id: str, base: Place | None, ours: Place, theirs: Place) -> None:
        """Both live, or both retired, and not the same."""
        one, other = self.contents.of(ours.leaf), self.contents.of(theirs.leaf)
        before = None if base is None else self.contents.of(base.leaf)
        merged = None if one is None or other is None else merged_note(before, one, other, f"{id}.md")
        if merged is None:
            self.keep(id, ours)
            self.keep_beside(theirs.path, theirs.leaf)
            return
        left = self.forgotten.left_of(merged.entry, is_new=False)
        if left is None:
            self.forgotten_count += 1
            return
        data = merged.text.encode()
        if left is not merged.entry:
            data = self.rendered(left, data)
        self.put(_path_of(base, ours, theirs, left), data)
        for side in (ours, theirs):
            if self.contents.of(side.leaf) != data:
                self.keep_version(id, side)
        if merged.conflicted:
            title = "a secret note" if left.meta.sensitivity is Sensitivity.SECRET else left.meta.title
            self.conflicts.append(Remark(id, title))

    # -- other files --------------------------------------------------------------------------------------------------

    def file(self, path: str, base: Leaf | None, ours: Leaf | None, theirs: Leaf | None) -> None:
        """One file that is no note, or a version of one; at least one side has it."""
        if ours != theirs:
            ours, theirs = (self._unless_purged(path, leaf) for leaf in (ours, theirs))
        if ours == theirs or (self.has_base and theirs == base):
            kept = ours
        elif self.has_base and ours == base:
            kept = theirs
        elif ours is None or theirs is None:
            kept = ours or theirs
        else:
            self._contents(path, base, ours, theirs)
            return
        if kept is None:
            return
        if path.startswith((TOPICS, ARCHIVE)) and self.ours.get(path) != kept:
            owner = path.split("/")[1]
            self.admit(path, owner if is_id(owner) else id_in_name(owner), kept)
        else:
            self.put(path, kept)

    def _unless_purged(self, path: str, leaf: Leaf | None) -> Leaf | None:
        """None for a state value from before it was purged (P28)."""
        purged_at_ms = self.forgotten.states.get(path)
        data = self.contents.of(leaf)
        if purged_at_ms is None or data is None:
            return leaf
        value = parse_state_value(data, path, "").value_or(None)
        if value is not None and (value.updated_at_ms or 0) > purged_at_ms:
            return leaf
        self.forgotten_count += 1
        return None

    def _contents(self, path: str, base: Leaf | None, ours: Leaf, theirs: Leaf) -> None:
        one, other = self.contents.of(ours), self.contents.of(theirs)
        merged = None
        if one is not None and other is not None:
            merged = merged_bookkeeping(path, self.contents.of(base), one, other)
        self.put(path, ours if merged is None else merged)
        if merged is not None:
            return
        if path.startswith(("state/", "usage/")):
            self.remark(path, "could not be merged, so this machine's stays")
        elif path.startswith(ARCHIVE) and path.count("/") > 1:
            self.keep_version(path.split("/")[1], Place(path, theirs))
        else:
            self.keep_beside(path, theirs)

    def ignore_file(self) -> Held:
        """The lines of both, those that a store needs among them."""
        one, other, before = (tree.get(IGNORE_FILE) for tree in (self.ours, self.theirs, self.base))
        if one is not None and other in (one, before):
            return one
        texts = [self.contents.of(leaf) for leaf in (one, other) if leaf is not None and leaf.mode in PLAIN_MODES]
        if one == before and other is not None:
            texts = texts[-1:]
        lines = [line for text in texts for line in (text or b"").decode("utf-8", "replace").splitlines()]
        lines += [line for line in IGNORED if line not in lines]
        return "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()

    def outside(self) -> Tree:
        """What is never written to disk goes on in git as git has it; what is new of it is remarked on."""
        found: dict[str, Leaf] = {}
        for path in sorted({*self.ours, *self.theirs} - {IGNORE_FILE}):
            before, one, other = (tree.get(path) for tree in (self.base, self.ours, self.theirs))
            reason = next((why for leaf in (other, one) if leaf is not None and (why := why_outside(path, leaf))), None)
            if reason is None:
                continue
            kept = chosen(before, one, other, lambda mine, theirs: mine or theirs, has_base=True)
            if kept is not None:
                found[path] = kept
            if other is not None and other not in (before, one):
                self.remark(path, f"stays in git and was not written here: {reason}")
        return found

    def settle_tiers(self) -> None:
        """Of the merged tiers only what is still live."""
        data = self.contents.of(self.files.get(TIERS_FILE))
        tiers = None if data is None else parse_tiers(data, TIERS_FILE).value_or(None)
        if tiers is not None:
            gone = _live_ids(self.ours, self.theirs) - _live_ids(self.files)
            hot, warm = (tuple(id for id in tier if id not in gone) for tier in (tiers.hot, tiers.warm))
            if (hot, warm) != (tiers.hot, tiers.warm):
                self.files[TIERS_FILE] = render_tiers(TierList(hot, warm))

    # -- what stays ---------------------------------------------------------------------------------------------------

    def remark(self, subject: str, what: str) -> None:
        self.remarks.append(Remark(subject, what))

    def put(self, path: str, held: Held) -> None:
        """The file, at the path; at another where a name that only differs in case is taken."""
        if path not in self.files and folded_name(path) in self._taken:
            path = _beside(path, str(len(self._taken)))
        self._taken.add(folded_name(path))
        self.files[path] = held

    def keep(self, id: str, place: Place | None, *, is_new: bool = False) -> None:
        """A note as one side has it, unless it was forgotten."""
        if place is None:
            return
        if self.ours.get(place.path) == place.leaf:
            self.put(place.path, place.leaf)  # our own forgetting has seen to it
        else:
            self.admit(place.path, id, place.leaf, is_new=is_new)

    def admit(self, path: str, id: str | None, held: Held, *, is_new: bool = False) -> None:
        """A file of a note that this machine does not have so, without what was forgotten of it."""
        entry = self.contents.entry(path, held)
        left = None if entry is None else self.forgotten.left_of(entry, is_new=is_new)
        if (entry is None and self.forgotten.takes_id(id)) or (entry is not None and left is None):
            self.forgotten_count += 1
        elif left is entry or left is None:
            self.put(path, held)
        else:
            self.put(path, self.rendered(left, held))

    def rendered(self, entry: MemoryEntry, previous: Held) -> bytes:
        return render_note(entry, (self.contents.of(previous) or b"").decode("utf-8")).encode()

    def keep_version(self, id: str, place: Place) -> None:
        """The bytes of a version that is live no more, in the archive, under the next free millisecond (P12)."""
        entry = self.contents.entry(place.path, place.leaf)
        data = self.contents.of(place.leaf)
        if entry is None or data is None or self.forgotten.left_of(entry, is_new=False) is not entry:
            return
        ms = max(entry.meta.updated_at_ms, 0)
        while any(held != data for held in self._held_at(f"{ARCHIVE}{id}/{ms}.md")):
            ms += 1
        self.put(f"{ARCHIVE}{id}/{ms}.md", data)

    def keep_beside(self, path: str, leaf: Leaf) -> None:
        """The other machine's file under a name of its own."""
        if not self.forgotten.takes_id(id_in_name(path.rpartition("/")[2])):
            beside = _beside(path, f"from another machine {leaf.object_id[:8]}")
            self.put(beside, leaf)
            self.remark(path, f"was changed on both machines: the other machine's is {beside!r}")

    def _held_at(self, path: str) -> tuple[bytes | None, ...]:
        """What lies at a path, in the result or on one of the sides."""
        there = (self.files.get(path), self.ours.get(path), self.theirs.get(path))
        return tuple(self.contents.of(held) for held in there if held is not None)


def _path_of(base: Place | None, ours: Place, theirs: Place, entry: MemoryEntry) -> str:
    """The name of the side that changed it; where both did, that of the merged title and tags."""
    if ours.path == theirs.path or (base is not None and theirs.path == base.path):
        return ours.path
    if base is not None and ours.path == base.path:
        return theirs.path
    return f"{TOPICS if ours.live else ARCHIVE}{file_name_of(entry.meta)}"


def _live_ids(*trees: Mapping[str, object]) -> set[str]:
    live = (path for tree in trees for path in tree if path.startswith(TOPICS))
    return {id for path in live if (id := id_in_name(path.rpartition("/")[2])) is not None}


def _beside(path: str, what: str) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem} ({what}).{ending}" if dot and "/" not in ending else f"{path} ({what})"


# -- one side of a merge: its notes by id, every other file by path, and what was forgotten there ----------------------


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


# -- one file by itself -----------------------------------------------------------------------------------------------


@frozen
class DrivenMerge:
    data: bytes
    conflicted: bool


def driven_merge(path: str, base: bytes, ours: bytes, theirs: bytes) -> DrivenMerge | None:
    """Both versions of one file as one, as git's merge drivers are asked to; None where that cannot be, and git is to say so.
    An empty base is none."""
    before = base or None
    if is_note(path):
        merged = merged_note(before, ours, theirs, "note.md")
        return None if merged is None else DrivenMerge(merged.text.encode(), has_conflict(merged.entry.body))
    data = merged_bookkeeping(path, before, ours, theirs)
    return None if data is None else DrivenMerge(data, conflicted=False)
