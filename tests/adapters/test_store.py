"""The contract of every `Store`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.change import Applied, Create, Receipt, Replace, Restore, Retire
from agent_memory.domain.entry import Listing, MemoryEntry, Meta
from agent_memory.domain.vocabulary import Kind, Origin
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, EntryNotFound, EntryUnreadable
from agent_memory.ports import Store
from one_change import delete, write

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
CREATED_MS = 1_771_000_205_123


def entry(id: str = A, title: str = "Guard patterns", body: str = "Guards are pure.", **meta: Any) -> MemoryEntry:
    known = Meta(
        id,
        title,
        CREATED_MS,
        CREATED_MS,
        "About guards.",
        kind=Kind.LESSON,
        origin=Origin.AGENT,
        tags=("topic__xstate",),
    )
    return MemoryEntry(evolve(known, **meta), body)


def path(title: str = "Guard patterns", id: str = A, shelf: str = "topics") -> str:
    return f"{shelf}/{title} -- topic__xstate {id}.md"


class TestStoreFiles:
    """`put` writes a file into `topics/` as a person's editor does."""

    @pytest.fixture
    def store(self, root: Path) -> Store:
        return StoreFiles(root, KernelLocks(root))

    @pytest.fixture
    def put(self, root: Path) -> Callable[[str, str], None]:
        def write(path: str, text: str) -> None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

        return write

    def hash_of(self, store: Store, id: str) -> str:
        return store.read(id).unwrap().listed.content_hash

    def test_an_empty_store_has_no_entries(self, store: Store) -> None:
        assert store.list() == Success(Listing(()))
        assert store.list(archived=True) == Success(Listing(()))
        assert store.read(A) == Failure(EntryNotFound(A))
        assert store.read(A, archived=True) == Failure(EntryNotFound(A))
        assert delete(store, A) == Failure(str(EntryNotFound(A)))
        assert store.apply([]) == Success(Receipt(()))

    def test_what_is_written_is_read_back(self, store: Store) -> None:
        receipt = write(store, entry(), None).unwrap()
        stored = store.read(A).unwrap()
        assert stored.entry == entry()
        assert stored.listed.path == path()
        assert not stored.listed.archived
        hash = stored.listed.content_hash
        assert receipt == Receipt((Applied(A, "create", path(), (path(),), None, hash),))
        assert store.list() == Success(Listing((stored.listed,)))

    def test_creating_the_same_again_is_done_already(self, store: Store) -> None:
        first = write(store, entry(), None)
        assert write(store, entry(), None) == first
        assert len(store.list().unwrap().entries) == 1

    def test_creating_another_entry_with_a_taken_id_is_refused_p15(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        assert write(store, entry(body="Other."), None) == Failure(str(EntryExists(A, path())))
        assert store.read(A).unwrap().entry == entry()

    def test_an_id_that_differs_in_case_only_is_taken_p15(self, store: Store) -> None:
        write(store, entry("id__abcdef"), None).unwrap()
        refused = write(store, entry("id__ABCDEF"), None).failure()
        assert refused == str(EntryExists("id__ABCDEF", path(id="id__abcdef")))

    def test_an_alias_is_taken_p15(self, store: Store) -> None:
        write(store, entry(aliases=(B,)), None).unwrap()
        assert write(store, entry(B), None) == Failure(str(EntryExists(B, path())))

    def test_an_archived_id_is_taken_p15(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        delete(store, A).unwrap()
        assert write(store, entry(), None) == Failure(str(EntryExists(A, path(shelf="archive"))))

    @pytest.mark.parametrize("id", ["", "x", "../../etc/passwd", "id__00000O", "id__a1b2c3/../x", "id__aaaaaa\n"])
    def test_an_id_that_is_none_is_refused_whole_p21(self, store: Store, id: str) -> None:
        refused = store.apply([Create(entry(B)), Create(entry(id))]).failure()
        assert isinstance(refused, EntryInvalid)
        assert store.list() == Success(Listing(()))

    def test_replacing_keeps_the_earlier_bytes_as_a_version_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        before = store.read(A).unwrap()
        new = entry(body="Guards may read context.", updated_at_ms=CREATED_MS + 5)
        receipt = write(store, new, before.listed.content_hash).unwrap()
        version = f"archive/{A}/{CREATED_MS}.md"
        after = store.read(A).unwrap()
        assert after.entry == new
        assert receipt.applied == (
            Applied(A, "replace", path(), (path(), version), before.listed.content_hash, after.listed.content_hash),
        )
        archived = store.read(A, archived=True).unwrap()
        assert (archived.listed.path, archived.listed.content_hash) == (version, before.listed.content_hash)
        assert archived.listed.archived
        assert store.list(archived=True) == Success(Listing((archived.listed,)))

    def test_what_says_the_same_leaves_no_version(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        receipt = write(store, entry(used=7, pinned=True), self.hash_of(store, A)).unwrap()
        assert receipt.applied[0].touched == (path(),)
        assert store.read(A).unwrap().meta.used == 7
        assert store.list(archived=True) == Success(Listing(()))

    def test_two_versions_of_one_millisecond_are_both_kept_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        for body in ("Two.", "Three."):
            write(store, entry(body=body), self.hash_of(store, A)).unwrap()
        newest = store.read(A, archived=True).unwrap()
        assert (newest.body, newest.listed.path) == ("Two.", f"archive/{A}/{CREATED_MS + 1}.md")

    def test_a_new_title_or_new_tags_rename_the_file(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        receipt = write(store, entry(title="Guards"), self.hash_of(store, A)).unwrap()
        assert receipt.applied[0].path == path("Guards")
        assert {path("Guards"), path()} < set(receipt.applied[0].touched)
        write(store, entry(title="Guards", tags=("area__web",)), self.hash_of(store, A)).unwrap()
        assert [each.path for each in store.list().unwrap().entries] == [f"topics/Guards -- area__web {A}.md"]

    def test_a_title_that_differs_in_case_only_keeps_the_name_p15(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        write(store, entry(title="GUARD patterns"), self.hash_of(store, A)).unwrap()
        stored = store.read(A).unwrap()
        assert (stored.meta.title, stored.listed.path) == ("GUARD patterns", path())

    def test_a_changed_entry_is_not_replaced_p8(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        shown = self.hash_of(store, A)
        write(store, entry(body="By hand."), shown).unwrap()
        assert write(store, entry(body="By the model."), shown) == Failure(str(EntryChanged(A)))
        assert delete(store, A).map(lambda receipt: receipt.applied[0].act) == Success("retire")

    def test_replacing_again_with_the_same_is_done_already(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        shown = self.hash_of(store, A)
        replace = Replace(entry(title="New", body="New."), shown)
        first = store.apply([replace]).unwrap().applied[0]
        again = store.apply([replace]).unwrap().applied[0]
        assert (again.path, again.before_hash, again.after_hash) == (first.path, shown, first.after_hash)
        assert set(again.touched) < set(first.touched)

    def test_replacing_what_is_not_live_is_refused(self, store: Store) -> None:
        assert write(store, entry(), "0" * 64) == Failure(str(EntryNotFound(A)))
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        delete(store, A).unwrap()
        assert write(store, entry(), hash) == Failure(str(EntryNotFound(A, archived=True)))

    def test_a_deleted_entry_is_in_the_archive_with_its_bytes_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        receipt = delete(store, A).unwrap()
        retired = path(shelf="archive")
        assert receipt == Receipt((Applied(A, "retire", path(), (path(), retired), hash, None),))
        assert store.read(A) == Failure(EntryNotFound(A, archived=True))
        archived = store.read(A, archived=True).unwrap()
        assert (archived.entry, archived.listed.content_hash) == (entry(), hash)
        assert store.list(archived=True) == Success(Listing((archived.listed,)))
        assert delete(store, A) == Failure(str(EntryNotFound(A, archived=True)))

    def test_retiring_again_is_done_already(self, store: Store) -> None:
        for valid_until_ms in (None, CREATED_MS + 9):
            id = A if valid_until_ms is None else B
            write(store, entry(id), None).unwrap()
            retire = Retire(id, self.hash_of(store, id), valid_until_ms)
            first = store.apply([retire]).unwrap()
            again = store.apply([retire]).unwrap()
            assert again.dropped == ()
            assert set(again.applied[0].touched) <= set(first.applied[0].touched)

    def test_retiring_with_an_end_keeps_the_original_beside_it_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        store.apply([Retire(A, hash, valid_until_ms=CREATED_MS + 9)]).unwrap()
        assert store.read(A, archived=True).unwrap().entry == entry(valid_until_ms=CREATED_MS + 9)
        store.apply([Restore(A)]).unwrap()
        assert self.hash_of(store, A) == hash

    def test_a_changed_entry_is_not_retired_p8(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        receipt = store.apply([Retire(A, "0" * 64)]).unwrap()
        assert receipt.applied == ()
        assert [dropped.subject for dropped in receipt.dropped] == [A]
        assert store.read(A).unwrap().entry == entry()

    def test_a_restored_entry_is_live_byte_for_byte(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        delete(store, A).unwrap()
        receipt = store.apply([Restore(A)]).unwrap()
        assert receipt.applied == (Applied(A, "restore", path(), (path(), path(shelf="archive")), None, hash),)
        assert self.hash_of(store, A) == hash
        assert store.list(archived=True) == Success(Listing(()))
        assert store.apply([Restore(A)]).unwrap().dropped[0].subject == A

    def test_what_was_never_there_cannot_be_restored(self, store: Store) -> None:
        assert store.apply([Restore(A)]).unwrap().dropped[0].subject == A

    def test_restoring_takes_the_id_out_of_alias_lists(self, store: Store) -> None:
        write(store, entry(B), None).unwrap()
        delete(store, B).unwrap()
        write(store, entry(A), None).unwrap()
        write(store, entry(A, aliases=(B, C)), self.hash_of(store, A)).unwrap()
        assert store.read(B).unwrap().meta.id == A
        assert store.read(B, archived=True).unwrap().meta.id == B
        receipt = store.apply([Restore(B)]).unwrap()
        assert store.read(B).unwrap().meta.id == B
        assert store.read(A).unwrap().meta.aliases == (C,)
        assert path() in receipt.applied[0].touched

    def test_an_alias_leads_to_the_entry_but_cannot_be_deleted(self, store: Store) -> None:
        write(store, entry(aliases=(B,)), None).unwrap()
        assert store.read(B).unwrap().meta.id == A
        assert delete(store, B) == Failure(str(EntryNotFound(B)))

    def test_retired_twice_both_times_are_kept_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        delete(store, A).unwrap()
        store.apply([Restore(A)]).unwrap()
        write(store, entry(body="Second life."), self.hash_of(store, A)).unwrap()
        delete(store, A).unwrap()
        assert store.read(A, archived=True).unwrap().body == "Second life."

    def test_refused_changes_are_dropped_and_the_rest_is_applied_p8(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        receipt = store.apply([Create(entry(B)), Replace(entry(), "0" * 64), Retire(C, hash), Retire(A, hash)]).unwrap()
        assert [(each.id, each.act) for each in receipt.applied] == [(B, "create"), (A, "replace"), (A, "retire")]
        assert [each.subject for each in receipt.dropped] == [C]
        assert all(reason.endswith(".") for each in receipt.dropped for reason in each.reasons)

    def test_each_change_of_a_batch_sees_those_before_it(self, store: Store) -> None:
        first = write(store, entry(), None).unwrap().applied[0]
        receipt = store.apply(
            [
                Replace(entry(title="Two", body="Two."), first.after_hash or ""),
                Create(entry(A, title="Three")),
                Create(entry(B, title="Two")),
                Create(entry(B, title="Two")),
                Restore(B),
            ]
        ).unwrap()
        assert [(each.id, each.act) for each in receipt.applied] == [(A, "replace"), (B, "create"), (B, "create")]
        assert [each.subject for each in receipt.dropped] == [A, B]
        retired = store.apply([Retire(B, self.hash_of(store, B)), Restore(B), Retire(B, self.hash_of(store, B))])
        assert [each.act for each in retired.unwrap().applied] == ["retire", "restore", "retire"]
        assert store.read(B) == Failure(EntryNotFound(B, archived=True))

    def test_a_note_written_by_hand_is_an_entry(self, store: Store, put: Callable[[str, str], None]) -> None:
        put("topics/mine.md", "# Deploys\n\nAlways from main.\n")
        (listed,) = store.list().unwrap().entries
        stored = store.read(listed.meta.id).unwrap()
        assert (stored.meta.title, stored.meta.origin, stored.body) == (
            "Deploys",
            Origin.USER,
            "# Deploys\n\nAlways from main.",
        )

    def test_unknown_keys_of_a_hand_written_file_survive(self, store: Store, put: Callable[[str, str], None]) -> None:
        put(f"topics/mine {A}.md", "---\ntitle: Mine # by me\ncolour: blue\ncreatedAt: 5\n---\nText.\n")
        stored = store.read(A).unwrap()
        write(store, evolve(stored.entry, body="Other text."), stored.listed.content_hash).unwrap()
        assert store.read(A).unwrap().body == "Other text."
        assert store.read(A).unwrap().listed.path == f"topics/mine {A}.md"
        assert store.read(A, archived=True).unwrap().listed.content_hash == stored.listed.content_hash

    def test_a_file_that_is_no_entry_hides_no_other(self, store: Store, put: Callable[[str, str], None]) -> None:
        write(store, entry(), None).unwrap()
        put(f"topics/bad {B}.md", "---\nkind: nonsense\n---\nText.\n")
        listing = store.list().unwrap()
        assert [each.meta.id for each in listing.entries] == [A]
        assert [each.path for each in listing.unreadable] == [f"topics/bad {B}.md"]
        assert "nonsense" in listing.unreadable[0].problems[0]
        assert isinstance(store.read(B).failure(), EntryUnreadable)
        assert write(store, entry(B), None) == Failure(str(EntryExists(B, f"topics/bad {B}.md")))
        for refused in (write(store, entry(B), "0" * 64), delete(store, B)):
            assert "is not a valid entry" in str(refused.failure())
        assert [each.subject for each in store.apply([Retire(B, "0" * 64), Restore(B)]).unwrap().dropped] == [B, B]
