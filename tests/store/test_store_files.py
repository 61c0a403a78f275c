"""What `Store` promises beyond the contract of a store: crashes, full disks, other processes, people with editors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, PathRefused, StateCorrupt, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.change import Change
from agent_memory.store.store_files import Store
from faults import failing_on, snapshot
from one_change import delete, write

A, B, C, D = "id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd"
MS = 1_771_000_205_123


def entry(id: str, title: str = "Title", body: str = "Body.") -> MemoryEntry:
    return MemoryEntry(Meta(id, title, MS, MS, "About."), body)


def store(root: Path) -> Store:
    return Store(root, Locks(root))


def hash_of(root: Path, id: str) -> str:
    return store(root).read(id).unwrap().listed.content_hash


def notes(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in snapshot(root).items() if path.startswith(("topics/", "archive/"))}


# -- several at once --------------------------------------------------------------------------------------------------


def test_an_edit_between_decision_and_write_wins_p8(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store(root), entry(A), None).unwrap()
    shown = hash_of(root, A)
    file = root / f"topics/Title -- {A}.md"
    by_hand = file.read_text().replace("Body.", "By hand.")
    really_link = os.link

    def link(source: str, target: str) -> None:
        if target.endswith("journal.json"):
            file.write_text(by_hand)
        really_link(source, target)

    monkeypatch.setattr(os, "link", link)
    assert write(store(root), entry(A, body="By the model."), shown) == Failure(str(EntryChanged(A)))
    assert file.read_text() == by_hand
    assert sorted(notes(root)) == [f"topics/Title -- {A}.md"]


# -- names and paths --------------------------------------------------------------------------------------------------


def test_a_name_that_another_file_has_but_for_case_or_composition_is_taken_p15(root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    (root / f"topics/TITLE e\u0301 -- {A}.md").write_text("---\nid: id__zzzzzz\n---\nx\n")
    refused = write(store(root), entry(A, "Title é"), None).failure()
    assert refused == str(EntryExists(A, f"topics/TITLE e\u0301 -- {A}.md"))


def test_an_archive_name_that_is_taken_is_not_overwritten_p12(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    (root / "archive").mkdir()
    (root / f"archive/Title -- {A}.md").write_bytes(b"\xff something else")
    assert isinstance(delete(store(root), A), Success)
    assert (root / f"archive/Title -- {A}.md").read_bytes() == b"\xff something else"
    assert store(root).read(A, archived=True).unwrap().listed.path == f"archive/2 Title -- {A}.md"


def test_a_retired_file_that_lies_in_the_way_becomes_a_version_p12(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    live = (root / f"topics/Title -- {A}.md").read_bytes()
    delete(store(root), A).unwrap()
    (root / f"topics/Title -- {A}.md").write_bytes(live.replace(b"Body.", b"Copied back."))
    delete(store(root), A).unwrap()
    assert (root / f"archive/{A}/{MS}.md").read_bytes() == live
    assert store(root).read(A, archived=True).unwrap().body == "Copied back."


def test_a_note_without_an_id_gets_it_when_it_is_written_and_its_original_is_kept_p12(root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    (root / "topics/plain.md").write_text("Just words.\n")
    listed = store(root).list().unwrap().entries[0]
    assert listed.provisional_id
    id = listed.meta.id
    store(root).apply([Change.retire(id, listed.content_hash)]).unwrap()
    assert store(root).read(id, archived=True).unwrap().listed.path == "archive/plain.md"
    assert [each.read_text() for each in (root / f"archive/{id}").iterdir()] == ["Just words.\n"]
    store(root).apply([Change.restore(id)]).unwrap()
    stored = store(root).read(id).unwrap()
    assert (stored.listed.provisional_id, stored.body) == (False, "Just words.")


def test_what_was_there_before_it_was_retired_comes_back_or_nothing_p6(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    before = notes(root)
    store(root).apply([Change.retire(A, hash_of(root, A), valid_until_ms=1_800_000_000_000)]).unwrap()
    (version,) = (root / "archive" / A).iterdir()
    with failing_on(version.name, "open"):
        refused = store(root).apply([Change.restore(A)])
    assert refused == Failure(StoreIo(str(version), "open", "EIO", "Input/output error"))
    store(root).apply([Change.restore(A)]).unwrap()
    assert {path: data for path, data in notes(root).items() if path.startswith("topics/")} == before


def test_a_copy_is_not_read_for_the_entry_that_cannot_be_p6(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    (own,) = (root / "topics").iterdir()
    copy = own.with_name(f"Z {own.name}")
    copy.write_bytes(own.read_bytes().replace(b"Body.", b"Old."))
    with failing_on(f"topics/{own.name}", "open"):
        assert store(root).read(A) == Failure(StoreIo(str(own), "open", "EIO", "Input/output error"))
    assert store(root).read(A).unwrap().body == "Body."


def test_the_id_of_a_retired_entry_that_cannot_be_read_is_not_given_again_p6_p15(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    delete(store(root), A).unwrap()
    (retired,) = (root / "archive").glob("*.md")
    with failing_on(f"archive/{retired.name}", "open"):
        refused = write(store(root), entry(A, "Another"), None)
    assert refused == Failure(StoreIo(str(retired), "open", "EIO", "Input/output error"))
    retired.write_bytes(b"\xff")
    taken = write(store(root), entry(A, "Another"), None)
    assert taken == Failure(str(EntryExists(A, f"archive/{retired.name}")))
    retired.unlink()
    assert isinstance(write(store(root), entry(A, "Another"), None), Success)


@pytest.mark.parametrize("name", ["topics", "archive", ".transaction"])
def test_a_link_in_the_place_of_a_directory_is_refused_p21(root: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root.mkdir()
    (root / name).symlink_to(outside)
    refused = store(root).apply([Change.of(entry(A))]).failure()
    assert isinstance(refused, PathRefused)
    assert list(outside.iterdir()) == []


def test_a_damaged_journal_stops_writing_and_not_reading_p6(root: Path) -> None:
    write(store(root), entry(A), None).unwrap()
    (root / ".transaction/journal.json").write_text("{")
    assert isinstance(write(store(root), entry(B), None).failure(), StateCorrupt)
    assert store(root).read(A).unwrap().entry == entry(A)
    assert (root / ".transaction/journal.json").read_text() == "{"


HOSTILE = [
    "../../etc/passwd", "/etc/passwd", "..", "a\x00b", "-rf *", "~root", "x" * 5000, "é\ud800", "$(reboot)", "\n", ".",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_title_or_tag_leaves_topics_p21(root: Path, text: str) -> None:
    hostile = evolve(entry(A, text), meta=evolve(entry(A, text).meta, tags=(text, "topic__x")))
    result = write(store(root), hostile, None)
    assert isinstance(result, Success) or isinstance(result.failure(), EntryInvalid)
    written = [path for path in root.parent.rglob("*") if path.is_file() and ".local" not in path.parts]
    notes = [path for path in written if ".cache" not in path.parts]
    assert [path.parent for path in notes] == ([root / "topics"] if isinstance(result, Success) else [])
    assert all(len(path.name.encode()) <= 200 for path in notes)
    assert len(store(root).list().unwrap().entries) == len(notes)
    assert isinstance(write(store(root), entry(B, text), None), Success)
