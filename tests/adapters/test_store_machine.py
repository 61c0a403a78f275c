"""Any sequence of acts, hand edits and crashes leaves `StoreFiles` as it leaves `DictStore`."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

from attrs import evolve
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from returns.result import Result, Success

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.dict_store import DictStore
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.change import Applied, Change, Create, Dropped, Receipt, Replace, Restore, Retire
from agent_memory.domain.entry import MemoryEntry, Meta, StoredEntry
from agent_memory.errors import Error
from agent_memory.ports import Store
from faults import Killed, killed_at

IDS = [f"id__{letter * 6}" for letter in "abc"]
MS = 1_771_000_205_123

ids = st.sampled_from(IDS)
bodies = st.sampled_from(["One.", "Two.", "Three words here.", "", "---\nfour\n---"])
metas = st.builds(
    lambda id, title, tags, ms, aliases: Meta(id, title, MS, MS + ms, "About.", tags=tags, aliases=aliases),
    ids,
    st.sampled_from(["Guards", "GUARDS", "Güards", "Gu\u0308ards", "a/b: c?", "x" * 300]),
    st.sampled_from([(), ("topic__x",), ("topic__x", "area__y")]),
    st.integers(0, 2),
    st.sampled_from([(), ("id__zzzzzz",), ("id__aaaaaa",)]),
)
entries = st.builds(MemoryEntry, metas, bodies)
untils = st.none() | st.just(MS + 99)


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.root = self.home / "root"
        self.really_fsync = os.fsync
        os.fsync = lambda fd: None
        self.model = DictStore()
        self.open()

    def open(self) -> None:
        self.store = StoreFiles(self.root, KernelLocks(self.root, {"HOME": str(self.home)}))

    def teardown(self) -> None:
        if hasattr(self, "home"):
            os.fsync = self.really_fsync
            shutil.rmtree(self.home)

    def current(self, id: str) -> StoredEntry | None:
        return self.model.read(id).value_or(None)

    def hash_of(self, id: str, stale: bool) -> str:
        stored = self.current(id)
        return stored.listed.content_hash if stored is not None and not stale else "0" * 64

    def both(self, changes: list[Change]) -> None:
        assert plain(self.store.apply(changes)) == plain(self.model.apply(changes))

    @rule(entry=entries)
    def create(self, entry: MemoryEntry) -> None:
        self.both([Create(entry)])

    @rule(entry=entries, stale=st.sampled_from([False, False, True]))
    def replace(self, entry: MemoryEntry, stale: bool) -> None:
        self.both([Replace(entry, self.hash_of(entry.meta.id, stale))])

    @rule(id=ids, until=untils, stale=st.sampled_from([False, False, True]))
    def retire(self, id: str, until: int | None, stale: bool) -> None:
        self.both([Retire(id, self.hash_of(id, stale), until)])

    @rule(id=ids)
    def restore(self, id: str) -> None:
        self.both([Restore(id)])

    @rule(id=ids)
    def delete(self, id: str) -> None:
        assert plain(self.store.delete(id)) == plain(self.model.delete(id))

    @rule(one=entries, other=entries, id=ids)
    def batch(self, one: MemoryEntry, other: MemoryEntry, id: str) -> None:
        self.both(self.some_changes(one, other, id))

    @rule(one=entries, other=entries, id=ids, k=st.integers(1, 45), reopen=st.booleans())
    def crash(self, one: MemoryEntry, other: MemoryEntry, id: str, k: int, reopen: bool) -> None:
        changes = self.some_changes(one, other, id)
        finished = deepcopy(self.model)
        finished.apply(changes)
        with killed_at(k) as counter, suppress(Killed):
            self.store.apply(changes)
        if reopen:
            self.open()
        if not counter.struck or view(self.store) == view(finished):
            self.model = finished

    def some_changes(self, one: MemoryEntry, other: MemoryEntry, id: str) -> list[Change]:
        return [
            Create(one),
            Replace(other, self.hash_of(other.meta.id, False)),
            Retire(id, self.hash_of(id, False)),
            Restore(IDS[0]),
        ]

    @precondition(lambda self: self.model.list().unwrap().entries)
    @rule(id=ids, body=bodies)
    def edit_by_hand(self, id: str, body: str) -> None:
        stored = self.current(id)
        if stored is None or stored.meta.id != id:
            return
        text = f"---\nid: {id} # mine\ntitle: {stored.meta.title!r}\ncreatedAt: {MS}\nmine: 1\n---\n{body}\n"
        (self.root / stored.listed.path).write_text(text)
        self.model.put_by_hand(stored.listed.path, text)

    @rule()
    def lose_derived_files(self) -> None:
        shutil.rmtree(self.root / ".cache", ignore_errors=True)
        self.open()

    @invariant()
    def the_same_entries_are_live_and_archived(self) -> None:
        assert view(self.store) == view(self.model)

    @invariant()
    def every_id_is_found_where_it_is_p12(self) -> None:
        for id in IDS:
            for archived in (False, True):
                assert seen(self.store.read(id, archived=archived)) == seen(self.model.read(id, archived=archived))


def view(store: Store) -> list[list[tuple[str, str, str]]]:
    listings = [store.list(archived=archived).unwrap() for archived in (False, True)]
    assert all(listing.unreadable == () for listing in listings)
    return [[(each.meta.id, each.path, each.content_hash) for each in listing.entries] for listing in listings]


def seen(result: Result[StoredEntry, Error]) -> object:
    return result.unwrap().entry if isinstance(result, Success) else result.failure()


def plain(result: Result[Receipt, Error]) -> tuple[tuple[Applied, ...], tuple[Dropped, ...]] | Error:
    """What came of it, whatever the order of the touched paths."""
    if not isinstance(result, Success):
        return result.failure()
    receipt = result.unwrap()
    return tuple(evolve(each, touched=tuple(sorted(each.touched))) for each in receipt.applied), receipt.dropped


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
