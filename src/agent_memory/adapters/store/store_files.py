"""The notes on disk, in plain files (P2, P5, P6, P8, P12, P13, P15, P21, P22).

    topics/<title -- tags id>.md        live entries, flat
    archive/<same name>.md              retired entries
    archive/<id>/<updatedAt ms>.md      earlier bytes of an entry, byte for byte; never overwritten
    state/tiers.json                    the tier list
    runs/<run id>/footprint-<n>.json    what a transaction of a run changed, with what was there before (P16)
    .transaction/                       a batch on its way; derived from nothing, not to be removed by hand
    .cache/store.db                     derived, may be removed at any time

Whatever writes holds the write lock. Reading takes no lock, unless it finds a transaction unfinished: then it waits for
whoever is at it, and undoes what nobody is at any more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import real_root
from agent_memory.adapters.disk.root_files import names_inside
from agent_memory.adapters.store.entry_files import JOURNAL, TOPICS, read_image, understand, understand_again
from agent_memory.domain.entry import Listed, Listing, Listings, MemoryEntry, StoredEntry
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryChanged, EntryNotFound, EntryUnreadable, Error, StoreIo
from agent_memory.results import sealed

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.adapters.database.following import FollowedFiles
    from agent_memory.adapters.database.store_database import StoreDatabase
    from agent_memory.adapters.store.shelves import Shelves
    from agent_memory.adapters.store.store_batches import Batches, Decided
    from agent_memory.domain.change import Change, Receipt, Together
    from agent_memory.domain.footprint import Footprint
    from agent_memory.domain.tiers import TierList
    from agent_memory.ports import Locks

_ATTEMPTS = 5
"""How often a read begins anew because somebody renames the same file at this very moment."""


class StoreFiles:
    """`Store` in a directory. The root is resolved once, need not exist, and is made at the first write."""

    def __init__(self, root: Path | str, locks: Locks) -> None:
        self._root = real_root(root)
        self._locks = locks
        self._last_live: Listing | None = None
        self._put: dict[str, str | None] = {}
        """Where entries were put since the last listing, by id; None for those that are live no more."""

    # `memory search` lists nothing, and `memory list` does without all that writing needs.

    @cached_property
    def _shelves(self) -> Shelves:
        from agent_memory.adapters.store.shelves import Shelves

        return Shelves(self._root, self.files)

    @cached_property
    def database(self) -> StoreDatabase:
        """What is derived from the notes."""
        from agent_memory.adapters.database.store_database import StoreDatabase

        return StoreDatabase(self._root)

    @cached_property
    def files(self) -> FollowedFiles:
        """Those of the notes, as listings and searches follow them."""
        from agent_memory.adapters.database.following import FollowedFiles

        return FollowedFiles(self.database)

    @cached_property
    def _batches(self) -> Batches:
        from agent_memory.adapters.store.store_batches import Batches

        return Batches(self._root, self._shelves)

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """See the port: by path. Of the archive the newest file of each id, which may be an earlier version of a live one.

        A root that is missing is an empty store; one that cannot be read is an error (P6). A file that is no entry hides no
        other: it is among the unreadable.
        """
        self._settle()
        if archived:
            return self._shelves.archived()
        return self._shelves.live().map(self._remembered)

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """See the port. EntryUnreadable where a file that bears the id is no entry; never "not found" for an entry that may
        be in a file that could not be read: StoreIo (P6)."""
        if not archived and (there := self._read_where_it_was(id) or self._read_by_name(id)) is not None:
            return Success(there)
        for _ in range(_ATTEMPTS):
            match sealed(self.list(archived=archived)):
                case Failure(error):
                    return Failure(error)
                case Success(listing):
                    listed = _by_id(listing, id) or (None if archived else _by_alias(listing, id))
                    if listed is None:
                        return self._absent(id, listing, archived)
                    if (unread := _unread_with_name(listing, id)) is not None:
                        return Failure(unread)  # it may be the entry, and the one that was found a copy of it (P6)
                    match sealed(self._load(listed.path, listed.meta.id)):
                        case Success(stored) if stored is not None:
                            return Success(stored)
                        case Failure(error):
                            return Failure(error)
                        case Success(_):
                            continue  # renamed or removed since the listing
        return Failure(EntryChanged(id))

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """See the port."""
        self._settle()
        found = self._load(listed.path, listed.meta.id, listed)
        if isinstance(found, Success) and (there := found.unwrap()) is not None:
            return Success(there)
        return self.read(listed.meta.id, archived=listed.archived)

    def write(self, entry: MemoryEntry, expected_hash: str | None) -> Result[Receipt, Error]:
        """See the port. A refusal is an error: EntryExists, EntryChanged, EntryNotFound, EntryInvalid."""
        from agent_memory.domain.change import Create, Replace

        return self._apply_one(Create(entry) if expected_hash is None else Replace(entry, expected_hash))

    def delete(self, id: str) -> Result[Receipt, Error]:
        """See the port. An alias is not the entry: EntryNotFound."""
        from agent_memory.domain.change import Retire

        with self._locks.write() as held:
            match sealed(held.bind(lambda _: self.read(id))):
                case Failure(error):
                    return Failure(error)
                case Success(stored) if stored.meta.id != id:
                    return Failure(EntryNotFound(id))
                case Success(stored):
                    return self._apply_one(Retire(id, stored.listed.content_hash))

    def apply(
        self,
        changes: Sequence[Change | Together],
        *,
        tiers: TierList | None = None,
        run_id: str | None = None,
        listed: Listings | None = None,
    ) -> Result[Receipt, Error]:
        """See the port. Changes are taken in order, each upon what the one before it left. A group of which only a part was
        done before is dropped as a whole: somebody has done or undone that part meanwhile."""
        return self._apply(changes, tiers, run_id, listed).map(lambda decided: decided.receipt)

    def tiers(self) -> Result[TierList, Error]:
        """See the port: `state/tiers.json`."""
        from agent_memory.adapters.store.tier_file import read_tiers  # `memory capture` and hooks never ask

        self._settle()
        return read_tiers(self._root)

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
        """See the port. Refused, too, where what comes back would clash with an id, an alias or a name of today, or where a
        live entry links to what would go. The refusal's `run_id` is empty.

        Of a tier list that was changed since, only what the run moved and nobody has moved again is put back.
        """
        with self._locks.write() as held:
            reverted = held.bind(lambda _: self._batches.revert(footprint, run_id, dry_run=dry_run))
            return reverted.map(lambda decided: self._told(decided).receipt)

    def _apply_one(self, change: Change) -> Result[Receipt, Error]:
        match sealed(self._apply((change,))):
            case Failure(error):
                return Failure(error)
            case Success(decided):
                return Failure(decided.refusals[0]) if decided.refusals else Success(decided.receipt)

    def _apply(
        self,
        changes: Sequence[Change | Together],
        tiers: TierList | None = None,
        run_id: str | None = None,
        listed: Listings | None = None,
    ) -> Result[Decided, Error]:
        with self._locks.write() as held:
            return held.bind(lambda _: self._batches.apply(changes, tiers, run_id, listed)).map(self._known_by_now)

    def _known_by_now(self, decided: Decided) -> Decided:
        """The same; who reads what was written looks where it was put first."""
        for each in decided.receipt.applied:
            self._put[each.id] = each.path if each.path.startswith(f"{TOPICS}/") else None
        return self._told(decided)

    def _told(self, decided: Decided) -> Decided:
        """The same; whoever looks at the shelves knows what was written."""
        self.files.wrote()
        return decided

    def _settle(self) -> None:
        if not os.path.lexists(f"{self._root}/{JOURNAL}"):
            return
        with self._locks.write() as held:
            # Half of a batch can be read, since nothing of it is ever in no place; writing will tell what is wrong.
            held.bind(lambda _: self._batches.recover())

    def _remembered(self, live: Listing) -> Listing:
        if live is not self._last_live:
            self._last_live, self._put = live, {}
        return live

    def _known_path(self, id: str) -> str | None:
        if id in self._put or self._last_live is None:
            return self._put.get(id)
        listed = self._last_live.found.by_id.get(id)
        return None if listed is None else listed.path

    def _read_where_it_was(self, id: str) -> StoredEntry | None:
        """The live entry, if it still is where the last listing saw it: a listing of all for each read takes its time."""
        path = self._known_path(id)
        if path is None:
            return None
        self._settle()
        found = self._load(path, id)
        return found.unwrap() if isinstance(found, Success) else None

    def _read_by_name(self, id: str) -> StoredEntry | None:
        """The live entry, if a file that bears its id in the name states it too: of several files with one id that is the
        entry, the first of them by path (see `shelves.standing`). Otherwise a listing has to tell."""
        from agent_memory.adapters.store.shelf_names import is_text

        self._settle()
        if not is_id(id):
            return None
        names = names_inside(self._root, TOPICS, lambda name: name.endswith(f"{id}.md") and id_in_name(name) == id)
        first = next(iter(names.value_or(())), None)
        if first is None or first.startswith(".") or not is_text(first):
            return None
        stored = self._load(f"{TOPICS}/{first}", id).value_or(None)
        return None if stored is None or stored.listed.provisional_id else stored

    def _load(self, path: str, id: str, listed: Listed | None = None) -> Result[StoredEntry | None, Error]:
        match sealed(read_image(self._root, path)):
            case Failure(error):
                return Failure(error)
            case Success(image):
                if image is None:
                    return Success(None)
                understood = (
                    understand(path, image.data, image.mtime_ns)
                    if listed is None
                    else understand_again(listed, image.data, image.mtime_ns)
                )
                return understood.map(lambda stored: stored if stored.meta.id == id else None)

    def _absent(self, id: str, listing: Listing, archived: bool) -> Result[StoredEntry, Error]:
        for file in listing.unreadable:
            if file.io_error is not None:
                return Failure(file.io_error)
            if id in (id_in_name(file.path.rpartition("/")[2]), file.path.split("/")[1]):
                return Failure(EntryUnreadable(file.path, file.problems))
        if archived:
            return Failure(EntryNotFound(id))
        return self._shelves.archived().bind(lambda archive: Failure(_not_live(id, archive)))


def _not_live(id: str, archive: Listing) -> Error:
    archived = _by_id(archive, id) is not None
    trouble = next((file.io_error for file in archive.unreadable if file.io_error is not None), None)
    return trouble if trouble is not None and not archived else EntryNotFound(id, archived)


def _unread_with_name(listing: Listing, id: str) -> StoreIo | None:
    files = (each for each in listing.unreadable if id_in_name(each.path.rpartition("/")[2]) == id)
    return next((each.io_error for each in files if each.io_error is not None), None)


def _by_id(listing: Listing, id: str) -> Listed | None:
    return next((listed for listed in listing.entries if listed.meta.id == id), None)


def _by_alias(listing: Listing, id: str) -> Listed | None:
    return next((listed for listed in listing.entries if id in listed.meta.aliases), None)
