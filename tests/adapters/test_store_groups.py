"""The contract of every `Store` for groups of changes and for the tier list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.change import Change, Create, Receipt, Replace, Restore, Retire, Together
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.vocabulary import TIERS_FILE, TierList
from agent_memory.errors import EntryInvalid, StateCorrupt
from agent_memory.ports import Store
from faults import snapshot
from one_change import delete, write

A, B, C, M = "id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__mmmmmm"
MS = 1_771_000_205_123


def entry(id: str, title: str = "", body: str = "Body.", **meta: Any) -> MemoryEntry:
    return MemoryEntry(evolve(Meta(id, title or f"Title {id[-1]}", MS, MS, "About."), **meta), body)


MERGED = entry(M, "Merged", "Both.", aliases=(A, B))

Put = Callable[[str, str], None]


@pytest.fixture
def store(root: Path) -> Store:
    made = StoreFiles(root, KernelLocks(root))
    for id in (A, B, C):
        write(made, entry(id), None).unwrap()
    return made


@pytest.fixture
def put(store: Store, root: Path) -> Put:
    """A person's editor."""

    def write(path: str, text: str) -> None:
        (root / path).write_text(text)

    return write


def hash_of(store: Store, id: str) -> str:
    return store.read(id).unwrap().listed.content_hash


def merge(store: Store, **changed: str) -> Together:
    hashes = {id: changed.get(id[-1], hash_of(store, id)) for id in (A, B)}
    return Together("merge of a and b", (Retire(A, hashes[A]), Retire(B, hashes[B]), Create(MERGED)))


def state(store: Store) -> object:
    return [store.list().unwrap(), store.list(archived=True).unwrap(), store.tiers()]


def acts(receipt: Receipt) -> list[tuple[str, str]]:
    return [(each.id, each.act) for each in receipt.applied]


# -- all or none ------------------------------------------------------------------------------------------------------


def test_a_merge_leaves_its_sources_in_the_archive_and_their_ids_lead_to_the_result_p12(store: Store) -> None:
    before = {id: store.read(id).unwrap() for id in (A, B)}
    receipt = store.apply([merge(store)]).unwrap()
    assert acts(receipt) == [(A, "retire"), (B, "retire"), (M, "create")]
    assert receipt.dropped == ()
    assert {each.meta.id for each in store.list().unwrap().entries} == {C, M}
    for id in (A, B):
        assert store.read(id).unwrap().entry == MERGED
        archived = store.read(id, archived=True).unwrap()
        assert archived.listed.content_hash == before[id].listed.content_hash


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_group_with_one_refused_change_is_dropped_whole_p8(store: Store, changed: str) -> None:
    before = state(store)
    receipt = store.apply([merge(store, **{changed: "0" * 64})]).unwrap()
    assert receipt.applied == ()
    assert [each.subject for each in receipt.dropped] == ["merge of a and b"]
    assert len(receipt.dropped[0].reasons) == 1
    assert f"id__{changed * 6}" in receipt.dropped[0].reasons[0]
    assert state(store) == before


def test_what_comes_after_a_refused_group_finds_the_store_as_if_it_had_not_been_p8(store: Store) -> None:
    refused = Together(
        "refused",
        (
            Create(entry(M, "Mine")),
            Retire(A, hash_of(store, A)),
            Replace(entry(B, aliases=("id__zzzzzz",)), hash_of(store, B)),
            Retire(C, "0" * 64),
        ),
    )
    changes: list[Change | Together] = [
        refused,
        Create(entry(M, "Mine", "Another body.")),
        Retire(A, hash_of(store, A)),
        Retire(B, hash_of(store, B)),
        Create(entry("id__zzzzzz")),
        refused,
    ]
    receipt = store.apply(changes).unwrap()
    assert acts(receipt) == [(M, "create"), (A, "retire"), (B, "retire"), ("id__zzzzzz", "create")]
    assert [each.subject for each in receipt.dropped] == ["refused", "refused"]
    assert store.read(M).unwrap().body == "Another body."


def test_each_group_sees_what_those_before_it_left(store: Store) -> None:
    split = Together("split", (Retire(C, hash_of(store, C)), Create(entry("id__ccccc1", aliases=(C,)))))
    other = Together("again", (Retire(C, hash_of(store, C)), Create(entry("id__ccccc2", aliases=(C,)))))
    receipt = store.apply([merge(store), split, other]).unwrap()
    assert [id for id, act in acts(receipt) if act == "create"] == [M, "id__ccccc1"]
    assert [each.subject for each in receipt.dropped] == ["again"]
    assert store.read(C).unwrap().meta.id == "id__ccccc1"


def test_an_empty_group_is_nothing(store: Store) -> None:
    assert store.apply([Together("nothing", ())]) == Success(Receipt(()))


def test_values_that_no_file_may_hold_fail_the_batch_from_within_a_group(store: Store) -> None:
    before = state(store)
    refused = store.apply([merge(store), Together("bad", (Create(entry("nonsense")),))]).failure()
    assert isinstance(refused, EntryInvalid)
    assert state(store) == before


# -- replays ----------------------------------------------------------------------------------------------------------


def test_a_group_that_was_made_counts_as_made(store: Store) -> None:
    group = merge(store)
    first = store.apply([group]).unwrap()
    after = state(store)
    again = store.apply([group]).unwrap()
    assert (acts(again), again.dropped) == (acts(first), ())
    assert state(store) == after


def test_a_group_of_which_a_part_was_done_by_somebody_else_is_dropped(store: Store) -> None:
    group = merge(store)
    delete(store, A).unwrap()
    before = state(store)
    receipt = store.apply([group]).unwrap()
    assert (receipt.applied, [each.subject for each in receipt.dropped]) == ((), [group.subject])
    assert A in receipt.dropped[0].reasons[0]
    assert state(store) == before


def test_a_group_of_which_a_part_was_undone_since_is_dropped(store: Store) -> None:
    group = merge(store)
    store.apply([group]).unwrap()
    store.apply([Restore(A)]).unwrap()
    before = state(store)
    receipt = store.apply([group]).unwrap()
    assert (receipt.applied, [each.subject for each in receipt.dropped]) == ((), [group.subject])
    assert state(store) == before


# -- ids and aliases --------------------------------------------------------------------------------------------------


def test_an_alias_that_is_the_id_of_a_live_entry_is_refused_p15(store: Store) -> None:
    only_one = Together("merge", (Retire(A, hash_of(store, A)), Create(MERGED)))
    before = state(store)
    receipt = store.apply([only_one, Create(entry(M, aliases=("id__CCCCCC",)))]).unwrap()
    assert [each.subject for each in receipt.dropped] == ["merge", M]
    assert f"{B} exists already" in receipt.dropped[0].reasons[0]
    assert state(store) == before


def test_an_alias_that_another_entry_has_is_refused_p15(store: Store) -> None:
    store.apply([merge(store)]).unwrap()
    receipt = store.apply([Create(entry("id__dddddd", aliases=(A,)))]).unwrap()
    assert [each.subject for each in receipt.dropped] == ["id__dddddd"]
    assert store.read(A).unwrap().meta.id == M


def test_a_result_takes_over_the_aliases_of_its_sources_p15(store: Store) -> None:
    store.apply([merge(store)]).unwrap()
    whole = entry("id__wwwwww", aliases=(M, C, A, B))
    group = Together("merge", (Retire(M, hash_of(store, M)), Retire(C, hash_of(store, C)), Create(whole)))
    assert store.apply([group]).unwrap().dropped == ()
    assert {store.read(id).unwrap().meta.id for id in (A, B, C, M)} == {"id__wwwwww"}


def test_an_update_may_keep_an_alias_and_not_take_one_that_is_taken_p15(store: Store, put: Put) -> None:
    put(f"topics/odd {M}.md", f"---\nid: {M}\ntitle: Odd\ncreatedAt: {MS}\naliases: [{C}]\n---\nBy hand.\n")
    odd = store.read(M).unwrap()
    assert store.apply([Replace(evolve(odd.entry, body="New."), odd.listed.content_hash)]).unwrap().dropped == ()
    receipt = store.apply([Replace(entry(A, aliases=(B,)), hash_of(store, A))]).unwrap()
    assert [each.subject for each in receipt.dropped] == [A]


# -- tiers ------------------------------------------------------------------------------------------------------------


def test_a_store_without_a_tier_list_has_an_empty_one(store: Store) -> None:
    assert store.tiers() == Success(TierList())
    assert store.apply([], tiers=TierList()) == Success(Receipt(()))


def test_tiers_are_kept_in_their_order_whatever_ids_they_hold(store: Store) -> None:
    tiers = TierList((C, "id__zzzzzz", A), (B,))
    assert store.apply([], tiers=tiers) == Success(Receipt((), tiers_changed=True))
    assert store.tiers() == Success(tiers)
    assert store.apply([], tiers=tiers) == Success(Receipt(()))
    assert store.apply([Create(entry(M))]).unwrap().tiers_changed is False
    assert store.tiers() == Success(tiers)
    assert store.apply([], tiers=TierList()) == Success(Receipt((), tiers_changed=True))
    assert store.tiers() == Success(TierList())


def test_tiers_and_changes_are_one_batch(store: Store) -> None:
    receipt = store.apply([merge(store)], tiers=TierList((M,), (C,))).unwrap()
    assert receipt.tiers_changed
    assert receipt.touched[-1] == TIERS_FILE
    before = state(store)
    refused = store.apply([Create(entry("nonsense"))], tiers=TierList((C,)))
    assert isinstance(refused.failure(), EntryInvalid)
    assert state(store) == before


def test_tiers_are_kept_when_every_change_is_dropped(store: Store) -> None:
    receipt = store.apply([Retire(A, "0" * 64)], tiers=TierList((A,))).unwrap()
    assert (receipt.applied, receipt.tiers_changed) == ((), True)
    assert store.tiers() == Success(TierList((A,)))


@pytest.mark.parametrize("tiers", [TierList((A, A)), TierList((A,), (A,)), TierList(("x",))])
def test_a_tier_list_that_could_not_be_read_back_is_refused(store: Store, tiers: TierList) -> None:
    before = state(store)
    assert isinstance(store.apply([merge(store)], tiers=tiers).failure(), EntryInvalid)
    assert state(store) == before


# -- on disk ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(root: Path) -> StoreFiles:
    store = StoreFiles(root, KernelLocks(root))
    store.apply([Create(entry(A))], tiers=TierList((A,))).unwrap()
    return store


def test_an_unchanged_tier_list_is_not_written_again(files: StoreFiles, root: Path) -> None:
    path = root / TIERS_FILE
    path.write_text(f'{{"warm": [], "hot": ["{A}"]}}')
    before = path.stat()
    assert files.apply([Create(entry(B))], tiers=TierList((A,))).unwrap().tiers_changed is False
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert files.apply([], tiers=TierList((B,))).unwrap().tiers_changed
    assert path.stat().st_ino != before.st_ino
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hot": []}', f'{{"hot": ["{A}", "{A}"], "warm": []}}'])
def test_a_damaged_tier_list_is_an_error_and_is_left_alone_p6(files: StoreFiles, root: Path, text: str) -> None:
    (root / TIERS_FILE).write_text(text)
    before = snapshot(root)
    damaged = files.tiers().failure()
    assert isinstance(damaged, StateCorrupt)
    assert damaged.path == str(root / TIERS_FILE)
    assert files.apply([Create(entry(B))], tiers=TierList((B,))) == Failure(damaged)
    assert snapshot(root) == before
    assert files.apply([Create(entry(B))]).unwrap().dropped == ()


def test_a_link_in_the_place_of_the_tier_list_is_not_followed_p21(files: StoreFiles, root: Path, home: Path) -> None:
    (home / "elsewhere").write_text('{"hot": [], "warm": []}')
    (root / TIERS_FILE).unlink()
    (root / TIERS_FILE).symlink_to(home / "elsewhere")
    assert files.tiers().failure().code == "path-refused"
    assert files.apply([], tiers=TierList((A,))).failure().code == "path-refused"
    assert (home / "elsewhere").read_text() == '{"hot": [], "warm": []}'
