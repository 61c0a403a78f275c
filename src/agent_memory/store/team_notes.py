"""The notes that a team keeps in its repository, `.agents/memory/*.md`, and a store as it is told together with them.

Whoever can push, and any agent in the checkout, can write there, so a file decides nothing about trust. Only a checkout
that the person trusts is read at all; a note counts as vouched for while it has the very bytes that they looked at, and
else as an agent's. The scope is the checkout's. Pins, aliases, sources and what it replaces are ignored: they would
reach into the reader's own notes. An id that the reader's store has is the reader's note, unless both are one note.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from agent_memory.errors import EntryChanged, EntryNotFound, PathRefused, StoreIo
from agent_memory.files.paths import names_below
from agent_memory.files.root import MOST_TEAM_FILES
from agent_memory.note.note import (
    BY_A_PERSON,
    TEAM_DIRECTORY,
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
from agent_memory.store.note_files import ReadFile, read_image, understand_again, unreadable
from agent_memory.store.store_database import FollowedFiles, StoreDatabase
from agent_memory.text.ids import content_hash

if TYPE_CHECKING:
    from returns.result import Result

    from agent_memory.errors import Error
    from agent_memory.ports import Notes

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

    def read(self, listed: Listed) -> StoredEntry:
        """Returns the note with its text. EntryChanged if the file is not as it was listed."""
        image = None if self.files is None else read_image(self.files.root, listed.path)
        if image is None or content_hash(image.data) != listed.content_hash:
            raise EntryChanged(listed.meta.id)
        return understand_again(listed, image.data, image.mtime_ns)


def read_team(files: TeamFiles, scope: str, vouched: Collection[tuple[str, str]]) -> Team:
    """Returns the team's notes. `vouched`: the absolute path and content hash of what a person looked at. No link is
    followed, and a directory with too many files is not read."""
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
        is_vouched = (f"{files.root}/{each.path}", each.content_hash) in vouched
        meta = evolve(each.meta, scope=scope, origin=Origin.AGENT, status=Status.CONSOLIDATED)
        if is_vouched:
            meta = evolve(meta, origin=Origin.EXTERNAL, status=Status.PROMOTED, promoted_by=BY_A_PERSON)
        told[each.meta.id] = evolve(each, meta=meta)
    return Team(files, scope, told, tuple(odd))


def bare(meta: Meta) -> Meta:
    """Returns the metadata without where it was learnt and what each store decides by itself."""
    at_home = evolve(meta, pinned=False, promoted_by=None, used=0, last_used_at_ms=None, confidence=None)
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

    def without_links_to(self, ids: Collection[str]) -> Result[Mapping[str, str], Error]:
        return self._own.without_links_to(ids)

    @as_result
    def tiers(self) -> TierList:
        """Returns the store's list; what the team adds and nobody vouches for is warm."""
        tiers = unwrap(self._own.tiers())
        added = (id for id, each in self.added.items() if not each.meta.is_vouched_for)
        return TierList(tiers.hot, (*tiers.warm, *added))

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
