"""Any sequence of acts, hand edits and crashes leaves a store as it leaves one that no crash hit."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from returns.result import Result, Success

from agent_memory.errors import Error, UndoRefused
from agent_memory.files.locks import KernelLocks
from agent_memory.note.note import MemoryEntry, Meta, StoredEntry, TierList
from agent_memory.ports import Store
from agent_memory.rules.change import Change, ChangeGroup, Receipt
from agent_memory.rules.undo_run import Footprint
from agent_memory.store.bookkeeping import FOOTPRINT
from agent_memory.store.store_files import StoreFiles
from faults import Killed, killed_at
from stand_ins.temporary_store import TemporaryStore

IDS = [f"id__{letter * 6}" for letter in "abc"]
MERGED = [f"id__mmmmm{number}" for number in range(1, 6)]
MS = 1_771_000_205_123

ids = st.sampled_from(IDS)
bodies = st.sampled_from(["One.", "Two.", "Three words here.", "", "---\nfour\n---", f"See [[{MERGED[0]}]]."])
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
tier_lists = st.permutations([*IDS, "id__zzzzzz"]).flatmap(
    lambda ids: st.integers(0, 4).map(lambda hot: TierList(tuple(ids[:hot][:2]), tuple(ids[hot:])))
)


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.root = self.home / "root"
        self.model = TemporaryStore()
        self.runs = 0
        self.open()

    def open(self) -> None:
        self.store = StoreFiles(self.root, KernelLocks(self.root, {"HOME": str(self.home)}))

    def teardown(self) -> None:
        if hasattr(self, "home"):
            shutil.rmtree(self.home)

    def current(self, id: str) -> StoredEntry | None:
        return self.model.read(id).value_or(None)

    def hash_of(self, id: str, stale: bool) -> str:
        stored = self.current(id)
        return stored.listed.content_hash if stored is not None and not stale else "0" * 64

    def both(self, changes: Sequence[Change | ChangeGroup], tiers: TierList | None = None) -> None:
        """As a run of its own."""
        self.runs += 1
        run_id = f"run-{self.runs}"
        here = self.store.apply(changes, tiers=tiers, run_id=run_id)
        assert plain(here) == plain(self.model.apply(changes, tiers=tiers, run_id=run_id))

    def footprint(self, root: Path, run_id: str) -> Footprint:
        paths = sorted((root / "runs" / run_id).glob("*.json"))
        return Footprint(tuple(each for path in paths for each in FOOTPRINT.parse(path.read_bytes(), str(path)).files))

    @rule(entry=entries)
    def create(self, entry: MemoryEntry) -> None:
        self.both([Change.of(entry)])

    @rule(entry=entries, stale=st.sampled_from([False, False, True]))
    def replace(self, entry: MemoryEntry, stale: bool) -> None:
        self.both([Change.of(entry, self.hash_of(entry.meta.id, stale))])

    @rule(id=ids, until=untils, stale=st.sampled_from([False, False, True]))
    def retire(self, id: str, until: int | None, stale: bool) -> None:
        self.both([Change.retire(id, self.hash_of(id, stale), until)])

    @rule(id=ids)
    def restore(self, id: str) -> None:
        self.both([Change.restore(id)])

    @rule(one=entries, other=entries, id=ids)
    def batch(self, one: MemoryEntry, other: MemoryEntry, id: str) -> None:
        self.both(self.some_changes(one, other, id))

    @rule(entry=entries, data=st.data(), stale=st.sampled_from([False, False, True]))
    def group(self, entry: MemoryEntry, data: st.DataObject, stale: bool) -> None:
        id = data.draw(st.sampled_from(self.live_ids() or IDS))
        replace = Change.of(entry, self.hash_of(entry.meta.id, False))
        some = ChangeGroup("some", (replace, Change.retire(id, self.hash_of(id, stale))))
        other = ChangeGroup("other", (Change.of(entry), Change.restore(id)))
        self.both([some, other, Change.of(entry), some])

    @precondition(lambda self: len(self.live_ids()) > 1)
    @rule(data=st.data(), title=st.sampled_from(["Merged", "Both"]), body=bodies, again=st.booleans())
    def merge(self, data: st.DataObject, title: str, body: str, again: bool) -> None:
        """What is live becomes one entry, mostly with an id that was never used."""
        sources = data.draw(st.lists(st.sampled_from(self.live_ids()), min_size=2, max_size=3, unique=True))
        result = MemoryEntry(Meta(data.draw(st.sampled_from(MERGED)), title, MS, MS, aliases=tuple(sources)), body)
        group = ChangeGroup(title, (*(Change.retire(id, self.hash_of(id, False)) for id in sources), Change.of(result)))
        self.both([group, group] if again else [group])

    def live_ids(self) -> list[str]:
        return [each.meta.id for each in self.model.list().unwrap().entries]

    @rule(tiers=tier_lists, id=ids, until=untils)
    def tier(self, tiers: TierList, id: str, until: int | None) -> None:
        self.both([Change.retire(id, self.hash_of(id, False), until)], tiers)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), k=st.none() | st.integers(1, 45))
    def undo(self, data: st.DataObject, k: int | None) -> None:
        """Any run, old or new, an undo too; perhaps killed on the way."""
        run_id = f"run-{data.draw(st.integers(max(1, self.runs - 3), self.runs))}"
        left, left_in_memory = self.footprint(self.root, run_id), self.footprint(self.model.root, run_id)
        assert {each.path for each in left.files} == {each.path for each in left_in_memory.files}
        if k is None:
            self.runs += 1
            here = self.store.revert(left, f"run-{self.runs}")
            assert plain(here) == plain(self.model.revert(left_in_memory, f"run-{self.runs}"))
            return
        undone = self.model.copy()
        undone.revert(left_in_memory, "killed")
        with killed_at(k) as counter, suppress(Killed):
            self.store.revert(left, "killed")
        if not counter.struck or view(self.store) == view(undone):
            self.model = undone

    @rule(one=entries, other=entries, id=ids, tiers=tier_lists, k=st.integers(1, 60), reopen=st.booleans())
    def crash(self, one: MemoryEntry, other: MemoryEntry, id: str, tiers: TierList, k: int, reopen: bool) -> None:
        changes: list[Change | ChangeGroup] = [
            ChangeGroup("one", tuple(self.some_changes(one, other, id))),
            *self.some_changes(one, other, id),
        ]
        finished = self.model.copy()
        finished.apply(changes, tiers=tiers, run_id="crashed")
        with killed_at(k) as counter, suppress(Killed):
            self.store.apply(changes, tiers=tiers, run_id="crashed")
        if reopen:
            self.open()
        if not counter.struck or view(self.store) == view(finished):
            self.model = finished

    def some_changes(self, one: MemoryEntry, other: MemoryEntry, id: str) -> list[Change]:
        return [
            Change.of(one),
            Change.of(other, self.hash_of(other.meta.id, False)),
            Change.retire(id, self.hash_of(id, False)),
            Change.restore(IDS[0]),
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
        for id in (*IDS, *MERGED):
            for archived in (False, True):
                assert seen(self.store.read(id, archived=archived)) == seen(self.model.read(id, archived=archived))


def view(store: Store) -> tuple[list[list[tuple[str, str, str]]], TierList]:
    listings = [store.list(archived=archived).unwrap() for archived in (False, True)]
    assert all(listing.unreadable == () for listing in listings)
    entries = [[(each.meta.id, each.path, each.content_hash) for each in listing.entries] for listing in listings]
    return entries, store.tiers().unwrap()


def seen(result: Result[StoredEntry, Error]) -> object:
    return result.unwrap().entry if isinstance(result, Success) else result.failure()


def plain(result: Result[Receipt, Error]) -> object:
    """What came of it, whatever the order of the touched paths and of what was undone."""
    if not isinstance(result, Success):
        refusal = result.failure()
        return sorted(refusal.reasons) if isinstance(refusal, UndoRefused) else refusal
    receipt = result.unwrap()
    applied = [evolve(each, touched=tuple(sorted(each.touched))) for each in receipt.applied]
    return applied, receipt.dropped, sorted(receipt.touched)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=10, deadline=None)
