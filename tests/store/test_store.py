"""The contract of every `Store`: entries, groups of changes, the tier list."""

from __future__ import annotations

import errno
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.errors import (
    EntryChanged,
    EntryExists,
    EntryInvalid,
    EntryNotFound,
    EntryUnreadable,
    PathRefused,
    StoreIo,
)
from agent_memory.files.locks import Locks
from agent_memory.note.note import TIERS_FILE, Kind, Listing, MemoryEntry, Meta, Origin, TierList, UnreadableFile
from agent_memory.rules.change import Change, ChangeGroup, Receipt
from agent_memory.store import store_database
from agent_memory.store.store_files import Store
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
        return Store(root, Locks(root))

    @pytest.fixture
    def put(self, root: Path) -> Callable[[str, str], None]:
        def write(path: str, text: str) -> None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

        return write

    def hash_of(self, store: Store, id: str) -> str:
        return store.read(id).unwrap().listed.content_hash

    def test_creating_another_entry_with_a_taken_id_is_refused_p15(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        assert write(store, entry(body="Other."), None) == Failure(str(EntryExists(A, path())))
        assert store.read(A).unwrap().entry == entry()

    def test_an_id_that_differs_in_case_only_an_alias_and_an_archived_id_are_taken_p15(self, store: Store) -> None:
        write(store, entry("id__abcdef", aliases=(B,)), None).unwrap()
        refused = write(store, entry("id__ABCDEF"), None).failure()
        assert refused == str(EntryExists("id__ABCDEF", path(id="id__abcdef")))
        assert write(store, entry(B), None) == Failure(str(EntryExists(B, path(id="id__abcdef"))))
        write(store, entry(), None).unwrap()
        delete(store, A).unwrap()
        assert write(store, entry(), None) == Failure(str(EntryExists(A, path(shelf="archive"))))

    @pytest.mark.parametrize("id", ["", "x", "../../etc/passwd", "id__00000O", "id__a1b2c3/../x", "id__aaaaaa\n"])
    def test_an_id_that_is_none_is_refused_whole_p21(self, store: Store, id: str) -> None:
        refused = store.apply([Change.of(entry(B)), Change.of(entry(id))]).failure()
        assert isinstance(refused, EntryInvalid)
        assert store.list() == Success(Listing(()))

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

    def test_retiring_with_an_end_keeps_the_original_beside_it_p12(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        store.apply([Change.retire(A, hash, valid_until_ms=CREATED_MS + 9)]).unwrap()
        assert store.read(A, archived=True).unwrap().entry == entry(valid_until_ms=CREATED_MS + 9)
        store.apply([Change.restore(A)]).unwrap()
        assert self.hash_of(store, A) == hash

    def test_restoring_takes_the_id_out_of_alias_lists(self, store: Store) -> None:
        write(store, entry(B), None).unwrap()
        delete(store, B).unwrap()
        write(store, entry(A), None).unwrap()
        write(store, entry(A, aliases=(B, C)), self.hash_of(store, A)).unwrap()
        assert store.read(B).unwrap().meta.id == A
        assert store.read(B, archived=True).unwrap().meta.id == B
        receipt = store.apply([Change.restore(B)]).unwrap()
        assert store.read(B).unwrap().meta.id == B
        assert store.read(A).unwrap().meta.aliases == (C,)
        assert path() in receipt.applied[0].touched

    def test_refused_changes_are_dropped_and_the_rest_is_applied_p8(self, store: Store) -> None:
        write(store, entry(), None).unwrap()
        hash = self.hash_of(store, A)
        receipt = store.apply(
            [Change.of(entry(B)), Change.of(entry(), "0" * 64), Change.retire(C, hash), Change.retire(A, hash)]
        ).unwrap()
        assert [(each.id, each.act) for each in receipt.applied] == [(B, "create"), (A, "replace"), (A, "retire")]
        assert [each.subject for each in receipt.dropped] == [C]
        assert all(reason.endswith(".") for each in receipt.dropped for reason in each.reasons)

    def test_each_change_of_a_batch_sees_those_before_it(self, store: Store) -> None:
        first = write(store, entry(), None).unwrap().applied[0]
        receipt = store.apply(
            [
                Change.of(entry(title="Two", body="Two."), first.after_hash or ""),
                Change.of(entry(A, title="Three")),
                Change.of(entry(B, title="Two")),
                Change.of(entry(B, title="Two")),
                Change.restore(B),
            ]
        ).unwrap()
        assert [(each.id, each.act) for each in receipt.applied] == [(A, "replace"), (B, "create"), (B, "create")]
        assert [each.subject for each in receipt.dropped] == [A, B]
        retired = store.apply(
            [Change.retire(B, self.hash_of(store, B)), Change.restore(B), Change.retire(B, self.hash_of(store, B))]
        )
        assert [each.act for each in retired.unwrap().applied] == ["retire", "restore", "retire"]
        assert store.read(B) == Failure(EntryNotFound(B, archived=True))

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
            assert "is not a valid note" in str(refused.failure())
        assert [
            each.subject for each in store.apply([Change.retire(B, "0" * 64), Change.restore(B)]).unwrap().dropped
        ] == [B, B]


# -- groups of changes -------------------------------------------------------------------------------------------------


M = "id__mmmmmm"
MS = 1_771_000_205_123


def plain(id: str, title: str = "", body: str = "Body.", **meta: Any) -> MemoryEntry:
    return MemoryEntry(evolve(Meta(id, title or f"Title {id[-1]}", MS, MS, "About."), **meta), body)


MERGED = plain(M, "Merged", "Both.", aliases=(A, B))

Put = Callable[[str, str], None]


@pytest.fixture
def store(root: Path) -> Store:
    made = Store(root, Locks(root))
    for id in (A, B, C):
        write(made, plain(id), None).unwrap()
    return made


@pytest.fixture
def put(store: Store, root: Path) -> Put:
    """A person's editor."""

    def write(path: str, text: str) -> None:
        (root / path).write_text(text)

    return write


def hash_of(store: Store, id: str) -> str:
    return store.read(id).unwrap().listed.content_hash


def merge(store: Store, **changed: str) -> ChangeGroup:
    hashes = {id: changed.get(id[-1], hash_of(store, id)) for id in (A, B)}
    return ChangeGroup(
        "merge of a and b", (Change.retire(A, hashes[A]), Change.retire(B, hashes[B]), Change.of(MERGED))
    )


def state(store: Store) -> object:
    return [store.list().unwrap(), store.list(archived=True).unwrap(), store.tiers()]


def acts(receipt: Receipt) -> list[tuple[str, str]]:
    return [(each.id, each.act) for each in receipt.applied]


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
    refused = ChangeGroup(
        "refused",
        (
            Change.of(plain(M, "Mine")),
            Change.retire(A, hash_of(store, A)),
            Change.of(plain(B, aliases=("id__zzzzzz",)), hash_of(store, B)),
            Change.retire(C, "0" * 64),
        ),
    )
    changes: list[Change | ChangeGroup] = [
        refused,
        Change.of(plain(M, "Mine", "Another body.")),
        Change.retire(A, hash_of(store, A)),
        Change.retire(B, hash_of(store, B)),
        Change.of(plain("id__zzzzzz")),
        refused,
    ]
    receipt = store.apply(changes).unwrap()
    assert acts(receipt) == [(M, "create"), (A, "retire"), (B, "retire"), ("id__zzzzzz", "create")]
    assert [each.subject for each in receipt.dropped] == ["refused", "refused"]
    assert store.read(M).unwrap().body == "Another body."


def test_a_group_that_was_made_counts_as_made(store: Store) -> None:
    group = merge(store)
    first = store.apply([group]).unwrap()
    after = state(store)
    again = store.apply([group]).unwrap()
    assert (acts(again), again.dropped) == (acts(first), ())
    assert state(store) == after


def test_a_result_takes_over_the_aliases_of_its_sources_p15(store: Store) -> None:
    store.apply([merge(store)]).unwrap()
    whole = plain("id__wwwwww", aliases=(M, C, A, B))
    group = ChangeGroup(
        "merge", (Change.retire(M, hash_of(store, M)), Change.retire(C, hash_of(store, C)), Change.of(whole))
    )
    assert store.apply([group]).unwrap().dropped == ()
    assert {store.read(id).unwrap().meta.id for id in (A, B, C, M)} == {"id__wwwwww"}


# -- tiers ------------------------------------------------------------------------------------------------------------


def test_tiers_are_kept_in_their_order_whatever_ids_they_hold(store: Store) -> None:
    tiers = TierList((C, "id__zzzzzz", A), (B,))
    assert store.apply([], tiers=tiers) == Success(Receipt(touched=(TIERS_FILE,)))
    assert store.tiers() == Success(tiers)
    assert store.apply([], tiers=tiers) == Success(Receipt())
    assert TIERS_FILE not in store.apply([Change.of(plain(M))]).unwrap().touched
    assert store.tiers() == Success(tiers)
    assert store.apply([], tiers=TierList()) == Success(Receipt(touched=(TIERS_FILE,)))
    assert store.tiers() == Success(TierList())


@pytest.mark.parametrize("tiers", [TierList((A, A)), TierList((A,), (A,)), TierList(("x",))])
def test_a_tier_list_that_could_not_be_read_back_is_refused(store: Store, tiers: TierList) -> None:
    before = state(store)
    assert isinstance(store.apply([merge(store)], tiers=tiers).failure(), EntryInvalid)
    assert state(store) == before


# -- what lies in a directory of notes ---------------------------------------------------------------------------------


def note(id: str, title: str = "Title", **keys: object) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\nid: {id}\ntitle: {title}\ncreatedAt: 1771000205123\n{more}---\nText of {id}.\n"


@pytest.fixture
def topics(root: Path) -> Path:
    path = root / "topics"
    path.mkdir(parents=True)
    return path


def store_at(root: Path) -> Store:
    return Store(root, Locks(root))


def ids(root: Path, *, archived: bool = False) -> list[str]:
    return [listed.meta.id for listed in store_at(root).list(archived=archived).unwrap().entries]


def unreadable(root: Path) -> dict[str, str]:
    return {file.path: file.problems[0] for file in store_at(root).list().unwrap().unreadable}


@pytest.mark.parametrize("call", ["scandir", "lstat"])
def test_a_directory_that_cannot_be_read_is_an_error_and_not_empty_p6(
    root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (topics / "a.md").write_text(note(A))
    assert ids(root) == [A]

    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, call, refuse)
    refused = store_at(root).list().failure()
    assert isinstance(refused, StoreIo)
    assert refused.errno_name == "EACCES"
    assert isinstance(store_at(root).read(A).failure(), StoreIo)


def test_the_root_may_be_a_link_and_nothing_inside_it(root: Path, topics: Path, tmp_path: Path) -> None:
    (topics / "a.md").write_text(note(A))
    link = tmp_path / "linked root"
    link.symlink_to(root)
    assert ids(link) == [A]
    topics.rename(tmp_path / "elsewhere")
    topics.symlink_to(tmp_path / "elsewhere")
    assert isinstance(store_at(root).list().failure(), PathRefused)


# -- what lies in topics/ ---------------------------------------------------------------------------------------------


def test_what_is_not_a_file_is_reported_and_never_opened_p21(
    root: Path, topics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (topics / "a.md").write_text(note(A))
    (tmp_path / "secret.md").write_text(note(B))
    (topics / "link.md").symlink_to(tmp_path / "secret.md")
    (topics / "dangling.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(topics / "fifo.md")
    (topics / "directory.md").mkdir()
    opened = []
    really_open = os.open

    def spy(path: str, *rest: int) -> int:
        opened.append(os.path.basename(path))
        return really_open(path, *rest)

    monkeypatch.setattr(os, "open", spy)
    assert ids(root) == [A]
    assert "a.md" in opened
    assert not {"link.md", "dangling.md", "fifo.md", "directory.md", "secret.md"} & set(opened)
    assert unreadable(root) == {
        "topics/dangling.md": "it is a symbolic link, and links inside the store are not followed",
        "topics/directory.md": "it is a directory",
        "topics/fifo.md": "it is not a regular file",
        "topics/link.md": "it is a symbolic link, and links inside the store are not followed",
    }


def test_notes_in_a_directory_are_reported_and_other_directories_are_let_be(root: Path, topics: Path) -> None:
    for name in ("deeper", "pictures", ".obsidian"):
        (topics / name).mkdir()
    (topics / "deeper/b.md").write_text(note(B))
    (topics / ".obsidian/c.md").write_text(note(C))
    (topics / "pictures/x.png").write_bytes(b"x")
    assert ids(root) == []
    assert unreadable(root) == {"topics/deeper": "it is a directory, and the notes in it are not seen"}


def test_a_file_that_fails_is_not_missing_p6(root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (topics / "a.md").write_text(note(A))
    (topics / f"b {B}.md").write_text(note(B))
    really_open = os.open

    def refuse_b(path: str, *rest: int) -> int:
        if path.endswith(f"b {B}.md"):
            raise OSError(errno.EIO, "Input/output error")
        return really_open(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse_b)
        assert ids(root) == [A]
        assert unreadable(root) == {f"topics/b {B}.md": "it cannot be read: Input/output error (EIO)"}
        unread = StoreIo(f"{topics}/b {B}.md", "open", "EIO", "Input/output error")
        assert store_at(root).read(B) == Failure(unread)
        assert store_at(root).read(C) == Failure(unread)  # who knows
        assert isinstance(store_at(root).read(A), Success)
    assert ids(root) == [A, B]


def test_of_two_files_with_one_id_the_first_is_the_entry_and_the_other_is_reported(root: Path, topics: Path) -> None:
    (topics / "a copy.md").write_text(note(A, "Copy"))
    (topics / "b.md").write_text(note(A, "Original"))
    assert store_at(root).read(A).unwrap().meta.title == "Copy"
    assert unreadable(root) == {"topics/b.md": f"it has the id {A}, as has topics/a copy.md"}


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS has no such names")
def test_a_name_that_is_not_utf8_is_reported(root: Path, topics: Path) -> None:
    with open(os.fsencode(topics) + b"/\xff.md", "w") as file:
        file.write(note(A))
    assert ids(root) == []
    assert unreadable(root) == {"topics/�.md": "its name is not UTF-8"}


def test_the_archive_lists_the_newest_file_of_each_id(root: Path, topics: Path) -> None:
    for path, text in {
        f"archive/retired {A}.md": note(A, "Retired"),
        f"archive/{A}/99999999999999.md": note(A, "Version of the retired"),
        f"archive/{B}/9.md": note(B, "Older"),
        f"archive/{B}/10.md": note(B, "Newer"),
        f"archive/{B}/11.txt": "x",
        "archive/other/x.md": note(C),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    listing = store_at(root).list(archived=True).unwrap()
    assert [(each.meta.id, each.meta.title) for each in listing.entries] == [(B, "Newer"), (A, "Retired")]
    assert all(each.archived for each in listing.entries)
    assert [each.path for each in listing.unreadable] == ["archive/other"]
    assert store_at(root).read(B, archived=True).unwrap().meta.title == "Newer"


def test_a_version_that_cannot_be_read_is_reported_and_the_one_before_it_shown(root: Path) -> None:
    (root / f"archive/{A}").mkdir(parents=True)
    (root / f"archive/{A}/5.md").write_text(note(A))
    (root / f"archive/{A}/6.md").write_text(note(B))
    listing = store_at(root).list(archived=True).unwrap()
    assert [each.path for each in listing.entries] == [f"archive/{A}/5.md"]
    assert listing.unreadable == (UnreadableFile(f"archive/{A}/6.md", (f"it lies under {A} but says that it is {B}",)),)


def test_a_listing_holds_no_body_p25(root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_database, "_BATCH_CHARS", 1)
    body = "A long body. " * 2_500
    for number in range(40):
        id = f"id__{number:06}".translate(str.maketrans("0123456789", "abcdefghij"))
        (topics / f"note -- {id}.md").write_text(note(id) + body)
    store_at(root).list().unwrap()
    (root / ".cache/store.db").unlink()
    tracemalloc.start()
    try:
        listed = store_at(root).list().unwrap()
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(listed.entries) == 40
    assert len(body) < peak_bytes < 40 * len(body) / 2, peak_bytes / len(body)


def test_other_programs_files_are_ignored(root: Path, topics: Path) -> None:
    (topics / "a.md").write_text(note(A))
    for name in (".DS_Store", ".hidden.md", ".tmp-0123456789abcdef", "notes.txt", "a.md~", "a.md.swp"):
        (topics / name).write_text(note(B))
    (topics / ".#a.md").symlink_to("user@host.123")
    assert ids(root) == [A]
    assert unreadable(root) == {}


def test_an_update_may_keep_an_alias_and_not_take_one_that_is_taken_p15(store: Store, put: Put) -> None:
    put(f"topics/odd {M}.md", f"---\nid: {M}\ntitle: Odd\ncreatedAt: {MS}\naliases: [{C}]\n---\nBy hand.\n")
    odd = store.read(M).unwrap()
    assert store.apply([Change.of(evolve(odd.entry, body="New."), odd.listed.content_hash)]).unwrap().dropped == ()
    receipt = store.apply([Change.of(plain(A, aliases=(B,)), hash_of(store, A))]).unwrap()
    assert [each.subject for each in receipt.dropped] == [A]
