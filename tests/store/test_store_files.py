"""What `Store` promises beyond the contract of a store: crashes, full disks, other processes, people with editors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve, frozen
from returns.result import Failure, Success

from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, PathRefused, StateCorrupt, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.change import Change
from agent_memory.store.store_files import Store
from faults import each_kill, failing_on, snapshot
from one_change import delete, write

A, B, C, D = "id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd"
MS = 1_771_000_205_123


def entry(id: str, title: str = "Title", body: str = "Body.") -> MemoryEntry:
    return MemoryEntry(Meta(id, title, MS, MS, "About."), body)


def store(root: Path) -> Store:
    return Store(root, Locks(root))


def hash_of(root: Path, id: str) -> str:
    return store(root).read(id).unwrap().listed.content_hash


def fill(root: Path) -> list[Change]:
    """Three live entries and a retired one, and a batch with every kind of change, one of them refused."""
    store(root).apply([Change.of(entry(id, f"Title {id[-1]}")) for id in (A, B, C, D)]).unwrap()
    delete(store(root), D).unwrap()
    return [
        Change.of(entry(A, "New title", "New body."), hash_of(root, A)),
        Change.retire(B, hash_of(root, B), valid_until_ms=MS + 5),
        Change.of(entry("id__eeeeee")),
        Change.retire(C, "0" * 64),
        Change.restore(D),
    ]


def notes(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in snapshot(root).items() if path.startswith(("topics/", "archive/"))}


@frozen
class Prepared:
    """A filled root to copy, the batch for it, and its notes without and with that batch."""

    root: Path
    changes: list[Change]
    before: dict[str, bytes]
    after: dict[str, bytes]

    def copy(self, name: str) -> Path:
        return Path(shutil.copytree(self.root, self.root.with_name(name)))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        changes = fill(home / "root")
        done = Path(shutil.copytree(home / "root", home / "done"))
        assert len(store(done).apply(changes).unwrap().applied) == 4
        return Prepared(home / "root", changes, notes(home / "root"), notes(done))


@pytest.mark.faults
@pytest.mark.usefixtures("home")
def test_a_kill_at_any_point_leaves_all_or_nothing_p2_p12_p15(prepared: Prepared) -> None:
    before, after = prepared.before, prepared.after
    seen = []
    for k, dying in each_kill():
        root = prepared.copy(f"killed {k}")
        with dying:
            store(root).apply(prepared.changes)
        for path, data in notes(root).items():
            if "/.tmp-" not in path:
                assert data in (before.get(path), after.get(path)), (k, path)
        listing = store(root).list().unwrap()
        assert listing.unreadable == (), k
        assert len({listed.meta.id for listed in listing.entries}) == len(listing.entries)
        seen.append(notes(root))
        assert seen[-1] in (before, after), k
        again = store(root).apply(prepared.changes).unwrap()
        assert [each.act for each in again.applied][:3] == ["replace", "retire", "create"], k
        assert notes(root) == after, k
    assert len([each for each in seen if each == before]) > 20


# -- several at once --------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from one_change import write
from test_store_files import A, entry, store
root, number = Path(sys.argv[1]), int(sys.argv[2])
own = store(root)
won = 0
for turn in range(4):
    write(own, entry(f"id__{number + 1}{turn + 1:05d}".replace("0", "z")), None).unwrap()
    shown = own.read(A).unwrap()
    won += write(own, entry(A, "Shared", f"{shown.body} {number}"), shown.listed.content_hash).map(lambda _: 1).value_or(0)
print(won)
"""


def test_writers_at_the_same_time_lose_nothing_p7_p8(root: Path) -> None:
    write(store(root), entry(A, "Shared", "Start."), None).unwrap()
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here.parent)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, root, str(number), here], stdout=subprocess.PIPE, text=True, env=environment
        )
        for number in range(3)
    ]
    wins = [int(writer.communicate()[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 3
    listing = store(root).list().unwrap()
    assert len(listing.entries) == 1 + 3 * 4
    assert listing.unreadable == ()
    body = store(root).read(A).unwrap().body
    assert [body.split().count(str(number)) for number in range(3)] == wins
    assert len(list((root / f"archive/{A}").iterdir())) == sum(wins)


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
