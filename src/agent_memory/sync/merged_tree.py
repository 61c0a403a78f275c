"""Merges two commits of a store with their common ancestor into one tree: notes by id, bookkeeping by its meaning,
everything else by path.

Nothing is lost: what one machine removed and the other changed stays changed; of two versions that cannot be merged,
both stay. Only forgotten text goes (P28). Pure: contents are passed in, by object id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeVar

from attrs import evolve, frozen

from agent_memory.care.tombstones import FORGOTTEN
from agent_memory.errors import StateCorrupt
from agent_memory.note.file_name import file_name_of, folded_name, id_in_name
from agent_memory.note.frontmatter import (
    NotReadable,
    Plain,
    canonical_body,
    flow_text,
    has_conflict,
    join_note,
    split_note,
)
from agent_memory.note.note import TEAM_DIRECTORY, TIERS_FILE, MemoryEntry, Meta
from agent_memory.note.note_format import META_FIELDS, parse_note, read_values, render_note
from agent_memory.note.yaml_block import comment_lines, edit_block
from agent_memory.results import as_result
from agent_memory.rules.commit_message import IGNORE_FILE, IGNORED
from agent_memory.rules.drafts import has_derived_title
from agent_memory.rules.forgotten import (
    SAME_SHARE,
    EntryTombstone,
    SessionKey,
    SessionTombstone,
    StateTombstone,
    forgotten_note,
    share_of,
    statement_hashes,
    unlinked,
    without_session,
    without_statements,
)
from agent_memory.store.bookkeeping import STATE_VALUE, TOMBSTONE, Tombstone
from agent_memory.store.note_files import MAX_FILE_BYTES, parse_tiers, render_tiers
from agent_memory.sync.merging import chosen, merged_bookkeeping, merged_meta, merged_text, newer_first
from agent_memory.sync.tree import EMPTY, PLAIN_MODES, Held, Leaf, MergedTree, Remark, Tree, why_outside
from agent_memory.text.ids import is_id
from agent_memory.text.instants import iso_of
from agent_memory.text.markdown import derive_description

TOPICS = "topics/"
ARCHIVE = "archive/"

T = TypeVar("T")


def merged_tree(base: Tree | None, ours: Tree, theirs: Tree, contents: Mapping[str, bytes]) -> MergedTree:
    """Returns the merged tree. `base` is None if the two have no common history; `contents` holds at least what
    `wanted_contents` names, by object id."""
    merge = _Merge(base, ours, theirs, contents)
    merge.merge_notes_and_files()
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


def wanted_contents(base: Tree | None, ours: Tree, theirs: Tree) -> frozenset[str]:
    """Returns the object ids whose contents a merge needs: everything that is not the same in all trees, notes whose
    names state no id, tombstones and tiers. A note that both sides renamed has its path in the base alone."""
    return frozenset(
        leaf.object_id
        for tree in (base or EMPTY, ours, theirs)
        for path, leaf in tree.items()
        if leaf.size_bytes <= MAX_FILE_BYTES and leaf.mode in PLAIN_MODES
        if not ours.get(path) == theirs.get(path) == leaf
        or path.startswith(f"{FORGOTTEN}/")
        or path == TIERS_FILE
        or (is_note(path) and id_in_name(path) is None)
    )


def is_note(path: str) -> bool:
    """Returns whether a path is that of a live or archived note; versions lie deeper."""
    return path.endswith(".md") and path.count("/") == 1 and path.startswith((TOPICS, ARCHIVE))


@frozen
class _Place:
    path: str
    leaf: Leaf

    @property
    def live(self) -> bool:
        return self.path.startswith(TOPICS)


class _Merge:
    def __init__(self, base: Tree | None, ours: Tree, theirs: Tree, contents: Mapping[str, bytes]) -> None:
        self.has_base = base is not None
        self.base, self.ours, self.theirs = base or EMPTY, ours, theirs
        self.files: dict[str, Held] = {}
        self.conflicts: list[Remark] = []
        self.remarks: list[Remark] = []
        self.forgotten_count = 0
        self._contents = contents
        self._taken: set[str] = set()
        tombstones: list[Tombstone] = []
        for path in sorted({*ours, *theirs}):
            if path.startswith(f"{FORGOTTEN}/"):
                sides = ours.get(path), theirs.get(path)
                # Not one that a person has removed, to have the note again.
                stays = self._one_sided(self.base.get(path), *sides) is not None or None not in sides
                for leaf in sides if stays else ():
                    if leaf is not None and why_outside(path, leaf) is None:
                        with suppress(StateCorrupt):
                            tombstones.append(TOMBSTONE.parse(self._data(leaf) or b"", path))
        tombstones.sort(key=lambda each: each.at_ms)
        self._entries_gone = {each.id: each for each in tombstones if isinstance(each, EntryTombstone)}
        self._sessions_gone = [each for each in tombstones if isinstance(each, SessionTombstone)]
        self._left_out: dict[str, frozenset[str]] = {}
        """By the id of a note that was made from a forgotten one: hashes of the statements that go with that."""
        self._states_gone = {each.path: each.at_ms for each in tombstones if isinstance(each, StateTombstone)}

    def merge_notes_and_files(self) -> None:
        (notes_before, before), (ours, our_files), (theirs, their_files) = (
            self._sorted_out(tree) for tree in (self.base, self.ours, self.theirs)
        )
        # Which live notes have absorbed (`aliases`) or replaced (`supersedes`) an id.
        successors: dict[str, list[str]] = {}
        new: list[MemoryEntry] = []
        for id, place in (*ours.items(), *theirs.items()):
            if place.live and (entry := self._entry(place.path, place.leaf)) is not None:
                new += [] if id in notes_before or (id in ours and id in theirs) else [entry]
                for each in (*entry.meta.aliases, *entry.meta.supersedes):
                    successors.setdefault(each, []).append(id)
        self._find_heirs(new, (ours, theirs))
        # They come first: one that goes, as when its merge was undone, takes no other's place.
        for id in sorted(dict.fromkeys((*ours, *theirs)), key=successors.__contains__):
            self._merge_note(id, notes_before.get(id), ours.get(id), theirs.get(id), successors.get(id, ()))
        for path in sorted({*our_files, *their_files}):
            self._merge_file(path, before.get(path), our_files.get(path), their_files.get(path))

    def _find_heirs(self, new: Sequence[MemoryEntry], sides: Sequence[Mapping[str, _Place]]) -> None:
        """Finds the new notes that one machine made of a note which another has forgotten, and what only that one said. Of
        the parts of a split only the first has its id; they have the same age and sources."""
        for heir in new:
            gone = [id for id in heir.meta.aliases if id in self._entries_gone]
            if not gone:
                continue
            others = (side[id] for id in heir.meta.aliases if id not in gone for side in sides if id in side)
            alive = [entry for each in others if (entry := self._entry(each.path, each.leaf)) is not None]
            said = frozenset[str]().union(*(self._entries_gone[id].statements for id in gone))
            said -= frozenset[str]().union(*(statement_hashes(each.meta.title, each.body) for each in alive))
            age = heir.meta.created_at_ms, heir.meta.sources
            parts = [
                each for each in new if (each.meta.created_at_ms, each.meta.sources, each.meta.aliases) == (*age, ())
            ]
            for each in (heir, *(part for part in parts if not said.isdisjoint(statement_hashes("", part.body)))):
                self._left_out[each.meta.id] = self._left_out.get(each.meta.id, frozenset()) | said
                what = f"came from {', '.join(gone)}, which was forgotten: what it says in the same words is left out"
                self.remarks.append(Remark(each.meta.id, what))

    def _sorted_out(self, tree: Tree) -> tuple[dict[str, _Place], dict[str, Leaf]]:
        """Returns the notes of a tree by id, and every other file that may be on disk by path. Of several files with one id
        the note is the live one with the id in its name, as in a listing: the others are copies."""
        notes: dict[str, _Place] = {}
        others: dict[str, Leaf] = {}
        for path in sorted(tree, key=lambda each: (not each.startswith(TOPICS), id_in_name(each) is None, each)):
            leaf = tree[path]
            if path == IGNORE_FILE or why_outside(path, leaf) is not None:
                continue
            id = id_in_name(path) if is_note(path) else None
            if is_note(path) and id is None:
                note = parse_note(self._data(leaf) or b"", path, 0).value_or(None)
                id = None if note is None or note.provisional_id else note.meta.id
            if id is None or id in notes:
                others[path] = leaf
            else:
                notes[id] = _Place(path, leaf)
        return notes, others

    def _one_sided(self, base: T | None, ours: T | None, theirs: T | None) -> T | None:
        """Returns the file if only one side has it, or has changed it; None if none stays, or if two have to be merged."""
        return chosen(
            base,
            ours,
            theirs,
            lambda mine, other: None if mine is not None and other is not None else mine or other,
            has_base=self.has_base,
        )

    # -- notes --------------------------------------------------------------------------------------------------------

    def _merge_note(
        self, id: str, base: _Place | None, ours: _Place | None, theirs: _Place | None, successors: Iterable[str]
    ) -> None:
        kept = self._one_sided(base, ours, theirs)
        if kept is not None:
            if base is not None and (ours is None or theirs is None):
                self.remarks.append(Remark(id, "was removed on one machine and changed on the other: it stays"))
            self._keep(kept.path, id, kept.leaf, is_new=base is None)
        elif ours is None or theirs is None:
            return
        elif ours.live == theirs.live:
            self._merge_versions(id, base, ours, theirs)
        else:
            # Archived on one machine, changed on the other: the change wins, unless another note has replaced it.
            live, retired = (ours, theirs) if ours.live else (theirs, ours)
            if (successor := next((each for each in successors if each in _live_ids(self.files)), None)) is None:
                self._merge_versions(id, base, live, evolve(retired, path=live.path))
                became = "was archived on one machine and changed on the other: it stays live"
            else:
                self._keep(retired.path, id, retired.leaf)
                self._keep_version(id, live)
                became = (
                    f"went into {successor} on one machine and was changed on the other: the change is in the archive"
                )
            self.remarks.append(Remark(id, became))

    def _merge_versions(self, id: str, base: _Place | None, ours: _Place, theirs: _Place) -> None:
        one, other = self._data(ours.leaf), self._data(theirs.leaf)
        before = None if base is None else self._data(base.leaf)
        merged = None if one is None or other is None else merged_note(before, one, other, f"{id}.md")
        if merged is None:
            self._keep(ours.path, id, ours.leaf)
            self._keep_beside(theirs.path, theirs.leaf)
            return
        left = self._left_of(merged.entry, live=ours.live)
        if left is None:
            self.forgotten_count += 1
            return
        text = merged.text if left is merged.entry else render_note(left, merged.text)
        data = text.encode()
        # Named as on the side that renamed it; if both did, by the merged title and tags.
        if ours.path == theirs.path or (base is not None and theirs.path == base.path):
            path = ours.path
        elif base is not None and ours.path == base.path:
            path = theirs.path
        else:
            path = f"{TOPICS if ours.live else ARCHIVE}{file_name_of(left.meta)}"
        self._put(path, data)
        for side in (ours, theirs):
            if self._data(side.leaf) != data:
                self._keep_version(id, side)
        if has_conflict(merged.entry.body):
            title = "a secret note" if left.meta.is_secret else left.meta.title
            self.conflicts.append(Remark(id, title))

    # -- other files --------------------------------------------------------------------------------------------------

    def _merge_file(self, path: str, base: Leaf | None, ours: Leaf | None, theirs: Leaf | None) -> None:
        """Merges one file that is not a note, or a version of one; at least one side has it."""
        if ours != theirs:
            ours, theirs = (self._unless_purged(path, leaf) for leaf in (ours, theirs))
        kept = self._one_sided(base, ours, theirs)
        if kept is not None:
            owner = path.split("/")[1] if path.startswith((TOPICS, ARCHIVE)) else ""
            self._keep(path, owner if is_id(owner) else id_in_name(owner), kept)
            return
        if ours is None or theirs is None:
            return
        one, other = self._data(ours), self._data(theirs)
        merged = None
        if one is not None and other is not None:
            merged = merged_bookkeeping(path, self._data(base), one, other)
        self._put(path, ours if merged is None else merged)
        if merged is None and path.startswith(("state/", "usage/")):
            self.remarks.append(Remark(path, "could not be merged, so this machine's stays"))
        elif merged is None and path.startswith(ARCHIVE) and path.count("/") > 1:
            self._keep_version(path.split("/")[1], _Place(path, theirs))
        elif merged is None:
            self._keep_beside(path, theirs)

    def _unless_purged(self, path: str, leaf: Leaf | None) -> Leaf | None:
        """Returns the file; None for a state value from before it was purged (P28)."""
        data = self._data(leaf)
        if path not in self._states_gone or data is None:
            return leaf
        value = as_result(STATE_VALUE.parse)(data, path).value_or(None)
        if value is not None and (value.updated_at_ms or 0) > self._states_gone[path]:
            return leaf
        self.forgotten_count += 1
        return None

    def ignore_file(self) -> Held:
        """Returns the lines of both, including those that a store needs."""
        one, other, before = (tree.get(IGNORE_FILE) for tree in (self.ours, self.theirs, self.base))
        if one is not None and other in (one, before):
            return one
        sides = (other,) if one == before and other is not None and other.mode in PLAIN_MODES else (one, other)
        texts = [self._data(leaf) or b"" for leaf in sides if leaf is not None and leaf.mode in PLAIN_MODES]
        lines = [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
        return "".join(f"{line}\n" for line in dict.fromkeys((*lines, *IGNORED))).encode()

    def outside(self) -> Tree:
        """Returns the files that are never written to disk and stay in git as they are; new ones are reported."""
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
                self.remarks.append(Remark(path, f"stays in git and was not written here: {reason}"))
        return found

    def settle_tiers(self) -> None:
        """Removes from the merged tiers what is no longer live."""
        data = self._data(self.files.get(TIERS_FILE))
        tiers = None if data is None else parse_tiers(data, TIERS_FILE).value_or(None)
        if tiers is not None:
            gone = (_live_ids(self.ours) | _live_ids(self.theirs)) - _live_ids(self.files)
            if (left := tiers.without(gone)) != tiers:
                self.files[TIERS_FILE] = render_tiers(left)

    def _left_of(self, entry: MemoryEntry, *, live: bool, is_new: bool = False) -> MemoryEntry | None:
        """Returns what may stay of a note: None, or the note without forgotten sessions among its sources, and if it is
        live, without links to forgotten notes (P15), and if it was made from one, without what that said. A new note goes too
        if a session taught it before the forgetting, and it says what a forgotten one said and hardly more."""
        if entry.meta.id in self._entries_gone:
            return None
        meta = entry.meta
        for each in self._sessions_gone:
            session = SessionKey(each.session_id, each.harness)
            share = share_of(meta, session)
            if share == "all":
                return None
            if share == "some":
                meta = without_session(meta, session)
        gone = self._entries_gone.values()
        if is_new and (again := forgotten_note(gone, meta.title, entry.body, meta.created_at_ms)) is not None:
            said, is_taught = statement_hashes(meta.title, entry.body), all(each.thread_id for each in meta.sources)
            if meta.sources and is_taught and len(said & again.statements) >= SAME_SHARE * len(said):
                return None
            if meta.id not in self._left_out:
                self.remarks.append(Remark(meta.id, f"stays, though it says what {again.id} said, which was forgotten"))
        left = without_statements(MemoryEntry(meta, entry.body), self._left_out.get(meta.id, ()))
        if left is None:
            return None
        if live:
            left = unlinked(left, self._entries_gone)
        return entry if left == entry else left

    # -- what stays ---------------------------------------------------------------------------------------------------

    def _put(self, path: str, held: Held) -> None:
        """Puts the file at the path; beside it if another one is there, also under a name that differs only in case."""
        is_there = path in self.files and self._data(self.files[path]) == self._data(held)
        if folded_name(path) in self._taken and not is_there:
            path = _beside(path, str(len(self._taken)))
        self._taken.add(folded_name(path))
        self.files[path] = held

    def _keep(self, path: str, id: str | None, held: Leaf, *, is_new: bool = False) -> None:
        """Keeps a file as one side has it; a note of the other machine, or a version of one, without what was forgotten
        of it. On our side that has been done."""
        is_done = self.ours.get(path) == held and id not in self._left_out
        if is_done or not path.startswith((TOPICS, ARCHIVE)):
            self._put(path, held)
            return
        if (stays := self._what_stays(path, id, held, is_new=is_new)) is None:
            self.forgotten_count += 1
        else:
            self._put(path, stays)

    def _what_stays(self, path: str, id: str | None, held: Leaf, *, is_new: bool = False) -> Held | None:
        entry = self._entry(path, held)
        if entry is None:
            return None if id in self._entries_gone else held
        left = self._left_of(entry, live=path.startswith(TOPICS), is_new=is_new)
        if left is entry:
            return held
        return None if left is None else render_note(left, (self._data(held) or b"").decode("utf-8")).encode()

    def _keep_version(self, id: str, place: _Place) -> None:
        """Keeps a version that is no longer live in the archive, under the next free millisecond (P12); one that cannot be
        read, before all others."""
        held = self._what_stays(place.path, id, place.leaf)
        if held is None:
            return
        entry = self._entry(place.path, held)
        first_ms = 0 if entry is None else max(entry.meta.updated_at_ms, 0)
        paths = (f"{ARCHIVE}{id}/{ms}.md" for ms in count(first_ms))
        sides: tuple[Mapping[str, Held], ...] = (self.files, self.ours, self.theirs)
        data = self._data(held)
        free = (path for path in paths if all(path not in side or self._data(side[path]) == data for side in sides))
        self._put(next(free), held)

    def _keep_beside(self, path: str, leaf: Leaf) -> None:
        if id_in_name(path) not in self._entries_gone:
            beside = _beside(path, f"from another machine {leaf.object_id[:8]}")
            self._put(beside, leaf)
            self.remarks.append(Remark(path, f"was changed on both machines: the other machine's is {beside!r}"))

    # -- what files hold ----------------------------------------------------------------------------------------------

    def _data(self, held: Held | None) -> bytes | None:
        """Returns the bytes; None if they are missing, were not requested, or are too large to be ours."""
        return self._contents.get(held.object_id) if isinstance(held, Leaf) else held

    def _entry(self, path: str, held: Held) -> MemoryEntry | None:
        data = self._data(held)
        return None if data is None else _entry(data, path)


def _live_ids(tree: Mapping[str, object]) -> set[str]:
    return {id for path in tree if path.startswith(TOPICS) and (id := id_in_name(path)) is not None}


def _beside(path: str, what: str) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem} ({what}).{ending}" if dot and "/" not in ending else f"{path} ({what})"


def driven_merge(path: str, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool] | None:
    """Returns both versions of one file as one, as git's merge drivers are asked to, and whether both had changed the
    same lines; None if they cannot be merged, and git should report that. An empty base counts as none."""
    before = base or None
    if is_note(path) or path.startswith(f"{TEAM_DIRECTORY}/"):
        merged = merged_note(before, ours, theirs, "note.md")
        return None if merged is None else (merged.text.encode(), has_conflict(merged.entry.body))
    data = merged_bookkeeping(path, before, ours, theirs)
    return None if data is None else (data, False)


# -- one note that two machines changed ------------------------------------------------------------------------------


_KNOWN = tuple(field.key for field in META_FIELDS)


@frozen
class MergedNote:
    """The merged file, and the note in it. If both had changed the same lines of the body, the two versions stand
    between conflict markers."""

    text: str
    entry: MemoryEntry


def merged_note(base: bytes | None, one: bytes, other: bytes, path: str) -> MergedNote | None:
    """Returns both files as one, the same whichever comes first; None if one of them is not a readable note, or their
    ids differ.

    Foreign keys and comments survive: those of the newer file as they are, followed by those that only the other has
    added. A base that cannot be read counts as none.
    """
    first, second = _entry(one, path), _entry(other, path)
    if first is None or second is None or first.meta.id != second.meta.id:
        return None
    before = None if base is None else _entry(base, path)
    newer, older = newer_first(first, second)
    labels = (
        f"one machine, {iso_of(newer.meta.updated_at_ms)}",
        f"another machine, {iso_of(older.meta.updated_at_ms)}",
    )
    body_before = None if before is None else canonical_body(before.body)
    body = merged_text(body_before, canonical_body(newer.body), canonical_body(older.body), labels)
    entry = MemoryEntry(_described(merged_meta(before, newer, older), before, (newer, older), body), body)
    files = (one, other) if newer == first else (other, one)
    text_before = "" if base is None or before is None else base.decode("utf-8", "replace")
    previous = _with_foreign(files[0].decode("utf-8"), files[1].decode("utf-8"), text_before)
    return MergedNote(render_note(entry, previous), entry)


def _described(meta: Meta, base: MemoryEntry | None, sides: tuple[MemoryEntry, MemoryEntry], body: str) -> Meta:
    """Returns the note with its title and description: a derived description follows the body, and what only one side
    wrote stays."""
    titles = [each.meta.title for each in sides if not has_derived_title(each)]
    if len(titles) == 1 and titles[0] != (None if base is None else base.meta.title):
        meta = evolve(meta, title=titles[0])
    told = ((each.meta.description, derive_description(canonical_body(each.body))) for each in sides)
    written = [description for description, derived in told if description not in ("", derived)]
    if len(written) == len(sides):
        return meta
    if written and written[0] != (None if base is None else base.meta.description):
        return evolve(meta, description=written[0])
    return meta if has_conflict(body) else evolve(meta, description=derive_description(body))


def _entry(data: bytes, path: str) -> MemoryEntry | None:
    return parse_note(data, path, 0).map(lambda note: note.entry).value_or(None)


# -- what is not ours -------------------------------------------------------------------------------------------------


def _with_foreign(newer: str, older: str, base: str) -> str:
    """Returns the newer file's text with the keys and comments that only the older one has added, or changed, since the
    base (empty if there is none)."""
    (block, here), (added, there), (before, earlier) = (_frontmatter(text) for text in (newer, older, base))
    edited = block
    foreign = {
        key: flow_text(value)
        for key, value in there.items()
        if key not in _KNOWN
        and (value != earlier[key] and here.get(key) == earlier[key] if key in earlier else key not in here)
    }
    if foreign:
        edited = edit_block(block, foreign, tuple(dict.fromkeys((*_KNOWN, *here, *foreign))))
    known = {*comment_lines(edited), *comment_lines(before)}
    if news := [line for line in comment_lines(added) if line not in known]:
        ended = edited if edited.endswith("\n") or not edited else f"{edited}\n"
        edited = ended + "".join(f"{line}\n" for line in news)
    parts = split_note(newer)
    return newer if edited == block else join_note(evolve(parts, block=edited, gap=parts.gap or "\n"))


def _frontmatter(text: str) -> tuple[str, dict[str, Plain]]:
    """Returns the frontmatter block of a file, and its values; empty if it cannot be read."""
    block = ""
    try:
        block = split_note(text).block or ""
        return block, read_values(block)
    except NotReadable:
        return block, {}
