"""What a run leaves so that it can be undone, and undoing it: byte for byte or not at all (P16)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agent_memory.errors import PathRefused, StateCorrupt, UndoRefused
from agent_memory.files.locks import Locks
from agent_memory.note.note import TIERS_FILE, MemoryEntry, Meta, Sensitivity, TierList
from agent_memory.note.note_format import render_note
from agent_memory.rules.change import Change, ChangeGroup, FileChange, FileState, Footprint, Receipt, SectionChange
from agent_memory.store.bookkeeping import FOOTPRINT
from agent_memory.store.diffs import diff_parts, logged_changes, note_changes, render_diff
from agent_memory.store.note_files import render_tiers
from agent_memory.store.store_files import Store
from faults import snapshot
from one_change import delete, write

A, B, C, D, E, M = (f"id__{letter * 6}" for letter in "abcdem")
MS = 1_771_000_205_123
OLD_NS = 1_600_000_000_123_456_789
TIERS = TierList((A, C), (B, D))


def entry(id: str, title: str = "", body: str = "Body.", **meta: Any) -> MemoryEntry:
    return MemoryEntry(evolve(Meta(id, title or f"Title {id[-1]}", MS, MS, "About."), **meta), body)


def open_files(root: Path) -> Store:
    return Store(root, Locks(root))


def fill(store: Store) -> None:
    """Five live entries, one of them with an earlier version, one archived, and tiers."""
    store.apply([Change.of(entry(id)) for id in (A, B, C, D, E)], tiers=TIERS).unwrap()
    write(store, entry(C, body="Newer."), hash_of_live(store, C)).unwrap()
    delete(store, E).unwrap()


def hash_of_live(store: Store, id: str) -> str:
    return store.read(id).unwrap().listed.content_hash


def run(store: Store, run_id: str = "run") -> Receipt:
    """A merge, an edit that renames, an archived entry, a restored one, a new one, and tiers."""
    changes: list[Change | ChangeGroup] = [
        ChangeGroup(
            "merge",
            (
                Change.retire(A, hash_of_live(store, A)),
                Change.retire(B, hash_of_live(store, B)),
                Change.of(entry(M, "Merged", "Both.", aliases=(A, B))),
            ),
        ),
        Change.of(entry(C, "Renamed", "Edited."), hash_of_live(store, C)),
        Change.retire(D, hash_of_live(store, D), valid_until_ms=MS + 9),
        Change.restore(E),
        Change.of(entry("id__fffff1")),
    ]
    receipt = store.apply(changes, tiers=TierList((M, C)), run_id=run_id).unwrap()
    assert receipt.dropped == ()
    return receipt


def footprint(root: Path, run_id: str = "run") -> Footprint:
    parts = sorted((root / "runs" / run_id).glob("footprint-*.json"), key=lambda path: int(path.stem.split("-")[1]))
    files = [each for path in parts for each in FOOTPRINT.parse(path.read_bytes(), str(path)).files]
    return Footprint(tuple(files))


def tree(root: Path) -> dict[str, tuple[int, bytes] | None]:
    """Times and bytes of all entries and of the tiers; None for a directory below a shelf."""
    paths = [path for shelf in ("topics", "archive", "state") for path in (root / shelf).rglob("*")]
    return {
        str(path.relative_to(root)): None if path.is_dir() else (path.stat().st_mtime_ns, path.read_bytes())
        for path in paths
    }


def texts(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in snapshot(root).items() if path.startswith(("topics/", "archive/", "state/"))}


@pytest.fixture
def files(root: Path) -> Store:
    store = open_files(root)
    fill(store)
    for path in root.rglob("*.md"):
        os.utime(path, ns=(OLD_NS, OLD_NS))
    return store


def test_a_run_leaves_every_change_with_what_was_there_before_p16(files: Store, root: Path) -> None:
    before = texts(root)
    receipt = run(files)
    after = texts(root)
    changes = footprint(root).files
    assert {each.path for each in changes} == {path for path in before | after if before.get(path) != after.get(path)}
    assert set(receipt.touched) >= {each.path for each in changes}
    for each in changes:
        assert (None if each.before is None else each.before.data) == before.get(each.path)
        assert (None if each.after is None else each.after.data) == after.get(each.path)
        if each.before is not None and each.path.endswith(".md"):
            assert each.before.mtime_ns == OLD_NS


@pytest.mark.parametrize("run_id", ["", "..", ".hidden", "a/b", "../x", "a\0b", "/etc"])
def test_a_run_id_that_is_no_name_is_refused_and_nothing_is_written_p21(files: Store, root: Path, run_id: str) -> None:
    before = snapshot(root)
    assert isinstance(files.apply([Change.of(entry(M))], run_id=run_id).failure(), PathRefused)
    assert snapshot(root) == before


# -- undoing it -------------------------------------------------------------------------------------------------------


def test_a_run_of_several_transactions_is_undone_whole_p16(files: Store, root: Path) -> None:
    before = tree(root)
    run(files)
    files.apply([Change.of(entry(C, "Once more", "Twice edited."), hash_of_live(files, C))], run_id="run").unwrap()
    files.apply(
        [Change.retire(M, hash_of_live(files, M)), Change.of(entry("id__fffff2"))], tiers=TierList(), run_id="run"
    ).unwrap()
    files.revert(footprint(root), "undo").unwrap()
    assert tree(root) == before


# -- when it is refused -----------------------------------------------------------------------------------------------


def refused(files: Store, root: Path) -> tuple[str, ...]:
    before = snapshot(root)
    refusal = files.revert(footprint(root), "undo").failure()
    assert isinstance(refusal, UndoRefused)
    assert snapshot(root) == before
    return refusal.reasons


def test_a_merge_of_which_a_file_was_changed_stays_and_the_rest_goes_p8(files: Store, root: Path) -> None:
    before = snapshot(root)
    run(files)
    path = root / f"topics/Merged -- {M}.md"
    path.write_text(path.read_text() + "By hand.\n")
    merged = {name: data for name, data in snapshot(root).items() if A in name or B in name or M in name}
    files.revert(footprint(root), "undo").unwrap()
    expected = {name: data for name, data in before.items() if name.startswith(("topics", "archive"))}
    expected = {name: data for name, data in expected.items() if A not in name and B not in name} | merged
    assert {name: data for name, data in snapshot(root).items() if name.startswith(("topics", "archive"))} == expected


def test_a_file_in_the_place_of_one_that_the_run_removed_is_not_overwritten_p8(files: Store, root: Path) -> None:
    run(files)
    (root / f"topics/Title a -- {A}.md").write_text("by hand")
    files.revert(footprint(root), "undo").unwrap()
    assert (root / f"topics/Title a -- {A}.md").read_text() == "by hand"
    assert (root / f"topics/Merged -- {M}.md").exists()


def test_an_edit_between_two_transactions_of_a_run_is_not_undone_with_it_p8(files: Store, root: Path) -> None:
    for body in ("One.", "Two."):
        files.apply([Change.of(entry(A, body=body), hash_of_live(files, A))], run_id="run").unwrap()
        path = root / f"topics/Title a -- {A}.md"
        path.write_text(path.read_text().replace("One.", "By hand."))
    assert refused(files, root) == (f"topics/Title a -- {A}.md was changed by somebody else while the run was at work",)


def test_an_id_that_leads_elsewhere_by_now_does_not_come_back_p15(files: Store, root: Path) -> None:
    files.apply([Change.retire(A, hash_of_live(files, A))], run_id="run").unwrap()
    write(files, entry(M, aliases=(A,)), None).unwrap()
    assert refused(files, root) == (f"{A} leads to topics/Title m -- {M}.md by now",)


def test_a_name_that_a_file_system_takes_for_another_does_not_come_back_p15(files: Store, root: Path) -> None:
    files.apply([Change.retire(A, hash_of_live(files, A))], run_id="run").unwrap()
    (root / f"topics/TITLE A -- {A}.md").write_text(f"---\nid: {M}\n---\nx\n")
    assert refused(files, root) == (f"another file has the name of topics/Title a -- {A}.md",)


def test_tiers_that_cannot_be_understood_by_now_stop_an_undo_p6(files: Store, root: Path) -> None:
    run(files)
    (root / TIERS_FILE).write_text("{")
    before = snapshot(root)
    assert isinstance(files.revert(footprint(root), "undo").failure(), StateCorrupt)
    assert snapshot(root) == before


# -- footprint diff ----------------------------------------------------------------------------------------------------


META = Meta("id__a1b2c3", "Ports", 1, 1)
PATH = "topics/Ports -- id__a1b2c3.md"
RETIRED = "archive/Ports -- id__a1b2c3.md"
VERSION = "archive/id__a1b2c3/1.md"


def state(body: str, meta: Meta = META) -> FileState:
    return FileState(render_note(MemoryEntry(meta, body)).encode(), 1)


OLD, NEW = state("The api has 8080."), state("The api has 9090.")


def shown(*files: FileChange) -> str:
    return render_diff(diff_parts(Footprint(files), {}))


def acts(*files: FileChange) -> list[tuple[str, tuple[str, ...], tuple[str, ...], str]]:
    return [(each.kind, each.ids, each.new_ids, each.words) for each in logged_changes(note_changes(files))]


class TestActs:
    def test_what_became_of_a_note_is_told_from_where_it_was_and_is(self) -> None:
        there, gone = FileChange(PATH, None, OLD), FileChange(PATH, OLD, None)
        shelved, unshelved = FileChange(RETIRED, None, OLD), FileChange(RETIRED, OLD, None)
        assert acts(there) == [("create", (), ("id__a1b2c3",), "Ports")]
        assert acts(FileChange(PATH, OLD, NEW)) == [("replace", ("id__a1b2c3",), (), "Ports")]
        assert acts(gone, shelved)[0][0] == "retire"
        assert acts(there, unshelved)[0][0] == "restore"
        assert acts(gone)[0][0] == "remove"
        assert acts(FileChange(VERSION, OLD, None)) == []


class TestDiff:
    def test_a_retired_note_says_where_it_is(self) -> None:
        text = shown(FileChange(PATH, OLD, None), FileChange(RETIRED, None, OLD))
        assert text.startswith("# moved to the archive id__a1b2c3  Ports\n")
        assert text.endswith(f"# now {RETIRED}")

    def test_the_text_of_a_secret_note_is_not_shown(self) -> None:
        secret = state("The key is under the mat.", evolve(META, sensitivity=Sensitivity.SECRET, title="Keys"))
        assert "mat" in shown(FileChange(PATH, None, state("The key is under the mat.")))
        for change in (
            FileChange(PATH, None, secret),
            FileChange(PATH, secret, NEW),
            FileChange(RETIRED, secret, None),
        ):
            text = shown(change)
            assert "mat" not in text
            assert "Keys" not in text
            assert "a secret note" in text

    def test_tiers_are_told_by_title(self) -> None:
        before, after = TierList(("id__a1b2c3",)), TierList((), ("id__a1b2c3", "id__d4e5f6"))
        change = FileChange("state/tiers.json", FileState(render_tiers(before)), FileState(render_tiers(after)))
        parts = diff_parts(Footprint((change, FileChange(PATH, None, OLD))), {"id__d4e5f6": "Linters"})
        assert [each.act for each in parts] == ["create", "tiers"]
        assert "-hot   id__a1b2c3  Ports" in parts[1].lines
        assert "+warm  id__d4e5f6  Linters" in parts[1].lines

    def test_sections_are_shown_under_their_targets(self) -> None:
        section = SectionChange(
            "/home/dana/AGENTS.md", None, "<!-- agent-memory:start -->\nHot\n<!-- agent-memory:end -->"
        )
        (part,) = diff_parts(Footprint(sections=(section, evolve(section, before=section.after))), {})
        assert part.words == "managed section of /home/dana/AGENTS.md"
        assert "+Hot" in part.lines

    def test_nothing_steers_the_terminal(self) -> None:
        hostile = state("\x1b]0;owned\x07 and \x9b2J.", evolve(META, title="Ports\x1b[2J"))
        text = shown(FileChange(PATH, OLD, hostile))
        assert "owned" in text
        assert not set(text) & set("\x1b\x07\x9b")
