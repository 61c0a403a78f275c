"""The notes on disk, in plain files (docs/contributing/formats.md; P2, P5, P6, P8, P12, P13, P15, P21, P22).

Writers hold the write lock. Readers take no lock, unless they find an unfinished transaction: then they wait for its
process, or undo it if that has died.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from agent_memory.errors import EntryChanged, EntryNotFound, EntryUnreadable, Error, PathRefused, StoreIo, UndoRefused
from agent_memory.files.paths import names_below, real_root
from agent_memory.files.root import MOST_TEAM_FILES
from agent_memory.note.file_name import id_in_name
from agent_memory.note.note import (
    BY_A_PERSON,
    TEAM_DIRECTORY,
    TIERS_FILE,
    Kind,
    Listed,
    Listing,
    Meta,
    Origin,
    Sensitivity,
    Status,
    StoredEntry,
    TierList,
    UnreadableFile,
)
from agent_memory.results import as_result, unwrap
from agent_memory.store.note_files import (
    JOURNAL,
    TOPICS,
    ReadFile,
    is_text,
    read_image,
    read_stored,
    tiers_in,
    trouble_with,
    understand,
    unreadable,
)
from agent_memory.store.store_database import FollowedFiles, StoreDatabase
from agent_memory.text.ids import content_hash, is_id

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.files.locks import Locks
    from agent_memory.ports import Notes
    from agent_memory.rules.change import Change, ChangeGroup, Footprint, Receipt


class Store:
    """The notes on disk (P2, P5, P6, P8, P12, P15, P21). The root is resolved once, need not exist, and is created by the
    first write."""

    def __init__(self, root: Path | str, locks: Locks) -> None:
        self._root = real_root(root)
        self._locks = locks

    # Reading needs nothing of what writing needs.

    @cached_property
    def files(self) -> FollowedFiles:
        """Returns the files of notes that listings and searches use."""
        return FollowedFiles(StoreDatabase(self._root))

    # -- reading ------------------------------------------------------------------------------------------------------

    @as_result
    def list(self, *, archived: bool = False) -> Listing:
        """Returns every live (or archived) note, without bodies, sorted by path. A missing root is an empty store, an
        unreadable one an error (P6). Invalid files are listed as unreadable."""
        self._settle()
        return self.files.archived() if archived else self.files.live()

    @as_result
    def listings(self) -> tuple[Listing, Listing]:
        """Returns the live notes, and the archive: the newest file of each id, but no version of a live note."""
        self._settle()
        live = self.files.live()
        return live, self.files.archived(live)

    @as_result
    def read(self, id: str, *, archived: bool = False) -> StoredEntry:
        """Returns the live note with this id or alias; with `archived`, its newest archived version. Raises
        EntryUnreadable if the file with this id is invalid; and StoreIo, not "not found", if the note may be in a file
        that could not be read (P6)."""
        # Where a listing is at hand, the file need not be looked for.
        if not archived and self.files.held is None and (there := self._read_by_name(id)) is not None:
            return there
        for _ in range(5):  # the same file may be being renamed
            self._settle()
            listing = self.files.archived() if archived else self.files.live()
            listed = listing.by_id.get(id)
            if listed is None:  # no two ids differ in case alone
                meant = ((each, each.meta.all_ids[: 1 if archived else None]) for each in listing.entries)
                listed = next((each for each, ids in meant if id.casefold() in map(str.casefold, ids)), None)
            if listed is None and archived:
                live = (each for each in self.files.live().by_id if each.casefold() == id.casefold())
                listing = self.files.newest_version(next(live, id))
                listed = next(iter(listing.entries), None)
            if listed is None:
                raise self._why_absent(id, listing, archived)
            for file in listing.unreadable:
                if file.io_error is not None and id_in_name(file.path) == id:
                    raise file.io_error  # it may be the note, and the one found a copy of it (P6)
            stored = read_stored(self._root, listed.path)
            if stored is not None and stored.meta.id == listed.meta.id:
                return stored
            # It was renamed or removed since the listing.
        raise EntryChanged(id)

    @as_result
    def read_again(self, listed: Listed) -> StoredEntry:
        """Returns the current state of a note listed before; looks first at its old path."""
        self._settle()
        with suppress(EntryUnreadable, PathRefused, StoreIo):
            stored = read_stored(self._root, listed.path, listed)
            if stored is not None and stored.meta.id == listed.meta.id:
                return stored
        return unwrap(self.read(listed.meta.id, archived=listed.archived))

    @as_result
    def tiers(self) -> TierList:
        """Returns the tier list; empty if there is none yet."""
        self._settle()
        return tiers_in(self._root, read_image(self._root, TIERS_FILE))

    def _read_by_name(self, id: str) -> StoredEntry | None:
        """Returns the live note if a file with its id in the name also states it: of several files with one id that is
        the note, the first by path (see `note_files.standing`). Otherwise only a listing can tell."""
        self._settle()
        if not is_id(id):
            return None
        try:
            names = names_below(self._root, TOPICS, lambda name: name.endswith(f"{id}.md") and id_in_name(name) == id)
            if not names or names[0].startswith(".") or not is_text(names[0]):
                return None
            stored = read_stored(self._root, f"{TOPICS}/{names[0]}")
        except (EntryUnreadable, PathRefused, StoreIo):
            return None
        return stored if stored is not None and stored.meta.id == id and not stored.listed.provisional_id else None

    def _why_absent(self, id: str, listing: Listing, archived: bool) -> EntryNotFound | EntryUnreadable | StoreIo:
        if (trouble := trouble_with(id, listing.unreadable)) is not None:
            return trouble
        if archived:
            return EntryNotFound(id)
        archive = self.files.archived()
        if id in archive.by_id:
            return EntryNotFound(id, archived=True)
        lost = next((file.io_error for file in archive.unreadable if file.io_error is not None), None)
        return lost or EntryNotFound(id)

    def _settle(self) -> None:
        if not os.path.lexists(f"{self._root}/{JOURNAL}"):
            return
        with suppress(Error), self._locks.write():
            # A half-applied batch is readable, since everything in it has a place; writing will report the problem.
            from agent_memory.store.transaction import Transactions

            Transactions(self._root).recover()

    # -- writing ------------------------------------------------------------------------------------------------------

    @as_result
    def apply(
        self, changes: Sequence[Change | ChangeGroup], *, tiers: TierList | None = None, run_id: str | None = None
    ) -> Receipt:
        """Applies all changes as one transaction: all become durable, or on an error none. Only a change to a note
        whose bytes are not the expected ones is dropped (P8). `tiers` replaces the tier list in the same transaction.
        With `run_id` the transaction also stores the footprint that undoes it (P16). Each change is based on the result
        of the previous one. A group that was partly done before is dropped whole: somebody has done or undone that part
        meanwhile."""
        from agent_memory.store.changes import carry_out, decide_batch

        given_up = EntryChanged(changes[0].subject if changes else TIERS_FILE)
        return carry_out(self.files, self._locks, lambda draft: decide_batch(changes, tiers, draft), run_id, given_up)

    @as_result
    def foresee(self, changes: Sequence[Change | ChangeGroup]) -> Footprint:
        """Returns what `apply` would change in the present store."""
        from agent_memory.rules.change import Footprint
        from agent_memory.store.changes import Draft, decide_batch

        self._settle()
        return Footprint(decide_batch(changes, None, Draft(self.files))[0].file_changes())

    @as_result
    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Receipt:
        """Restores every file of the footprint, byte for byte, as one transaction with a footprint of its own under
        `run_id`. UndoRefused, with nothing changed, if a file is not as the run left it. Also refused if what returns
        would clash with a present id, alias or name, or if a live note links to what would go. The error's `run_id` is
        empty. Of a tier list that has changed since, only what the run moved and nobody has moved again is restored."""
        from agent_memory.store.changes import Draft, carry_out
        from agent_memory.store.reversal import decide_reversal

        if dry_run:
            self._settle()
            return decide_reversal(footprint, Draft(self.files))[1]
        given_up = UndoRefused("", ("somebody is changing the same files right now",))
        return carry_out(self.files, self._locks, lambda draft: decide_reversal(footprint, draft), run_id, given_up)


# -- the notes that a team keeps in its repository, `.agents/memory/*.md`, and a store as it is told together with them
# Whoever can push, and any agent in the checkout, can write there, so a file decides nothing about trust. Only a
# checkout that the person trusts is read at all; a note counts as vouched for while it has the very bytes that they
# looked at, and else as an agent's. The scope is the checkout's. Pins, aliases, sources and what it replaces are
# ignored: they would reach into the reader's own notes. An id that the reader's store has is the reader's note, unless
# both are one note.

SHARED_SCOPE = "repo"
"""The scope in a shared file, in place of the key, which may be a path; each checkout has its own."""


class TeamFiles(FollowedFiles):
    """The files at the real top of a work tree, which a database in the store's cache knows."""

    directories = (TEAM_DIRECTORY,)
    max_bytes = 64 << 10

    def __init__(self, top: str, root: str) -> None:
        super().__init__(StoreDatabase(root, f"team-{content_hash(os.fsencode(top))[:16]}.db"))
        self.root = top

    def _read(self, path: str) -> ReadFile:
        read = super()._read(path)
        if read.stored is None:
            return read
        listed = evolve(read.stored.listed, meta=bare(read.stored.meta))
        return evolve(read, stored=StoredEntry(listed, read.stored.body))


@frozen
class Team:
    """The team's notes in one checkout, as they may be told, and the files that cannot."""

    files: TeamFiles | None = None
    scope: str = ""
    listed: Mapping[str, Listed] = field(factory=dict[str, Listed])
    """By id."""
    unreadable: tuple[UnreadableFile, ...] = ()

    @property
    def untold(self) -> tuple[str, ...]:
        """Returns why nothing of the directory is told, in a sentence; empty where it is told, or there is none."""
        why = () if self.files else self.unreadable
        return tuple(f"The notes of your team in {each.path} are told to nobody: {each.problems[0]}." for each in why)

    def read(self, listed: Listed) -> StoredEntry:
        """Returns the note with its text. EntryChanged if the file is not as it was listed."""
        image = None if self.files is None else read_image(self.files.root, listed.path)
        if image is None or content_hash(image.data) != listed.content_hash:
            raise EntryChanged(listed.meta.id)
        return understand(listed.path, image.data, image.mtime_ns, listed)


def read_team(files: TeamFiles, scope: str, vouched: Mapping[tuple[str, str], int]) -> Team:
    """Returns the team's notes. `vouched`: when a person looked at it (epoch ms), by absolute path and content hash; what
    is dated later was changed then at the latest. No link is followed, and a directory with too many files is not read."""
    try:
        is_small = len(names_below(files.root, TEAM_DIRECTORY)) <= MOST_TEAM_FILES
        live = files.live() if is_small else None
    except (PathRefused, StoreIo) as error:
        return Team(unreadable=(unreadable(TEAM_DIRECTORY, error),))
    if live is None:
        return Team(unreadable=(UnreadableFile(TEAM_DIRECTORY, (f"it holds more than {MOST_TEAM_FILES} files",)),))
    told, odd = dict[str, Listed](), list(live.unreadable)
    for each in live.entries:
        is_odd = (each.provisional_id, each.meta.kind is Kind.HANDOFF, each.conflicted)
        if any(is_odd):
            why = ("it has no id", "it is a handoff", "two versions of it are in conflict")[is_odd.index(True)]
            odd.append(UnreadableFile(each.path, (why,)))
            continue
        vouched_at_ms = vouched.get((f"{files.root}/{each.path}", each.content_hash))
        meta = evolve(each.meta, scope=scope, origin=Origin.AGENT, status=Status.CONSOLIDATED)
        if vouched_at_ms is not None:
            meta = evolve(
                meta,
                origin=Origin.EXTERNAL,
                status=Status.PROMOTED,
                promoted_by=BY_A_PERSON,
                updated_at_ms=min(meta.updated_at_ms, vouched_at_ms),
            )
        told[each.meta.id] = evolve(each, meta=meta)
    return Team(files, scope, told, tuple(odd))


def bare(meta: Meta) -> Meta:
    """Returns the metadata without where it was learnt and what each store decides by itself."""
    at_home = evolve(meta, pinned=False, promoted_by=None, cleared=(), used=0, last_used_at_ms=None, confidence=None)
    return evolve(at_home, scope=SHARED_SCOPE, aliases=(), supersedes=(), sources=())


class NotesHere:
    """`Notes` of a store together with the team's, each note once. Of two versions of one note the store's is told while
    the team's says the same, is older, or was not looked at by the person; then the team's is. They are listed once."""

    def __init__(self, own: Notes, team: Team) -> None:
        self._own, self._own_list = own, cache(own.list)
        self.team = team

    @as_result
    def list(self, *, archived: bool = False) -> Listing:
        own = unwrap(self._own_list(archived=archived))
        return own if archived else self._together(own)

    @as_result
    def listings(self) -> tuple[Listing, Listing]:
        live, archive = unwrap(self._own.listings())
        return self._together(live), archive

    def _together(self, own: Listing) -> Listing:
        if self.team.files is None:
            return own
        told = [self._instead_of(each) or each for each in own.entries]
        return Listing((*told, *self._added_to(own).values()), (*own.unreadable, *self.team.unreadable))

    @as_result
    def read(self, id: str, *, archived: bool = False) -> StoredEntry:
        try:
            own = unwrap(self._own.read(id, archived=archived))
        except EntryNotFound:
            if archived or id not in self.team.listed:
                raise
            return self.team.read(self.team.listed[id])
        return own if (theirs := self._instead_of(own.listed)) is None else self.team.read(theirs)

    @as_result
    def read_again(self, listed: Listed) -> StoredEntry:
        theirs = self.team.listed.get(listed.meta.id) if listed.is_team else self._instead_of(listed)
        return unwrap(self._own.read_again(listed)) if theirs is None else self.team.read(theirs)

    @as_result
    def tiers(self) -> TierList:
        """Returns the store's list; what the team adds is hot where the person vouches for it, else warm."""
        tiers, added = unwrap(self._own.tiers()), self.added
        hot = tuple(id for id, each in added.items() if each.meta.is_vouched_for)
        return TierList((*tiers.hot, *hot), (*tiers.warm, *(id for id in added if id not in hot)))

    @property
    def added(self) -> Mapping[str, Listed]:
        """Returns the team's notes that the store has not, by id."""
        return self._added_to(unwrap(self._own_list(archived=False))) if self.team.listed else {}

    def _added_to(self, own: Listing) -> Mapping[str, Listed]:
        taken = {id for each in own.entries for id in each.meta.all_ids}
        return {id: each for id, each in self.team.listed.items() if id not in taken}

    def _instead_of(self, own: Listed) -> Listed | None:
        """Returns the team's version of a live note of the store, where that is told in its place."""
        theirs = None if own.archived else self.team.listed.get(own.meta.id)
        if theirs is None or own.meta.scope != self.team.scope or own.meta.sensitivity is not Sensitivity.NORMAL:
            return None
        is_same = (own.meta.title, own.body_hash) == (theirs.meta.title, theirs.body_hash)
        is_older = theirs.meta.updated_at_ms < own.meta.updated_at_ms
        return theirs if theirs.meta.is_vouched_for and not is_same and not is_older else None
