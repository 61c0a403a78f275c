from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest
from returns.result import Failure

from agent_memory.errors import PathRefused, StateCorrupt, StoreIo
from agent_memory.results import as_result
from agent_memory.rules.change import FileChange, FileState
from agent_memory.store.note_files import JOURNAL
from agent_memory.store.transaction import Transactions
from faults import Killed, each_failure, each_kill, failing_on, killed_at, snapshot

OLD_NS = 1_600_000_000_000_000_000


def state(path: Path) -> FileState | None:
    return FileState(path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(OLD_NS, OLD_NS))


def fill(root: Path) -> list[FileChange]:
    """Three entries, and changes that replace one, retire one and create one."""
    for name in ("a", "b", "c"):
        write(root / f"topics/{name}.md", name.upper())
    a, b = state(root / "topics/a.md"), state(root / "topics/b.md")
    return [
        FileChange("topics/b.md", b, None),
        FileChange("archive/b.md", None, b),
        FileChange("archive/id__a1b2c3/12.md", None, a),
        FileChange("topics/a.md", a, FileState(b"A2")),
        FileChange("topics/d.md", None, FileState(b"D")),
    ]


AFTER = {
    "archive/b.md": b"B",
    "archive/id__a1b2c3/12.md": b"A",
    "topics/a.md": b"A2",
    "topics/c.md": b"C",
    "topics/d.md": b"D",
}
BEFORE = {"topics/a.md": b"A", "topics/b.md": b"B", "topics/c.md": b"C"}


def test_a_kill_at_any_point_leaves_all_or_nothing_p2(tmp_path: Path) -> None:
    outcomes = []
    for k, dying in each_kill():
        root = tmp_path / str(k)
        changes = fill(root)
        with dying:
            Transactions(str(root)).commit(changes)
        for path, data in snapshot(root).items():
            if path.endswith(".md") and "/.tmp-" not in path:
                assert data in (BEFORE.get(path), AFTER.get(path)), (k, path)
        Transactions(str(root)).recover()
        outcomes.append(snapshot(root))
        assert outcomes[-1] in (BEFORE, AFTER), k
    assert outcomes.count(BEFORE) > 10
    assert outcomes[-2:] == [AFTER, AFTER]


def test_a_second_kill_during_recovery_changes_nothing_of_that_p2(tmp_path: Path) -> None:
    for k in range(2, 80, 5):
        for second in range(1, 12, 3):
            root = tmp_path / f"{k}-{second}"
            changes = fill(root)
            for at, act in ((k, "commit"), (second, "recover")):
                with killed_at(at):
                    transactions = Transactions(str(root))
                    with suppress(Killed):
                        if act == "commit":
                            transactions.commit(changes)
                        else:
                            transactions.recover()
            Transactions(str(root)).recover()
            assert snapshot(root) in (BEFORE, AFTER), (k, second)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_a_failing_call_gives_an_error_and_the_store_is_unchanged_p5(tmp_path: Path, number: int) -> None:
    refusals = 0
    for k, failing in each_failure(number):
        root = tmp_path / str(k)
        changes = fill(root)
        with failing:
            result = as_result(Transactions(str(root)).commit)(changes)
        litter = [path for path in snapshot(root) if path.startswith(".transaction/") or "/.tmp-" in path]
        if isinstance(result, Failure):
            refusals += 1
            error = result.failure()
            assert isinstance(error, StoreIo)
            assert error.errno_name == errno.errorcode[number]
            Transactions(str(root)).recover()
            assert snapshot(root) == BEFORE, k
        else:
            assert {path: data for path, data in snapshot(root).items() if path not in litter} == AFTER, k
            Transactions(str(root)).recover()
            assert snapshot(root) == AFTER, k
    assert refusals > 30


def test_a_disk_that_goes_bad_for_good_leaves_what_recovery_can_mend_p5(tmp_path: Path) -> None:
    for k, failing in each_failure(errno.EIO, once=False):
        root = tmp_path / str(k)
        changes = fill(root)
        with failing:
            result = as_result(Transactions(str(root)).commit)(changes)
        Transactions(str(root)).recover()
        # An error after the last step that could not even be undone: complete, though it was reported.
        assert snapshot(root) == AFTER or (isinstance(result, Failure) and snapshot(root) == BEFORE), (k, result)


def test_a_file_that_changed_meanwhile_stops_all_changes_p8(tmp_path: Path) -> None:
    changes = fill(tmp_path)
    (tmp_path / "topics/a.md").write_text("by hand")
    assert not Transactions(str(tmp_path)).commit(changes)
    assert snapshot(tmp_path) == {**BEFORE, "topics/a.md": b"by hand"}


def test_a_name_that_was_taken_meanwhile_stops_all_changes_p8(tmp_path: Path) -> None:
    changes = fill(tmp_path)
    (tmp_path / "topics/d.md").write_text("by hand")
    assert not Transactions(str(tmp_path)).commit(changes)
    assert snapshot(tmp_path) == {**BEFORE, "topics/d.md": b"by hand"}


def interrupted(root: Path, *, in_place: int) -> None:
    """Die when so many of the four new files are in place."""
    changes = fill(root)
    real = os.replace
    moves = 0

    def replace(source: str, target: str) -> None:
        nonlocal moves
        if source.endswith(".new"):
            moves += 1
            if moves > in_place:
                raise Killed
        real(source, target)

    os.replace = replace  # type: ignore[assignment]
    try:
        with pytest.raises(Killed):
            Transactions(str(root)).commit(changes)
    finally:
        os.replace = real


def test_an_undo_brings_back_the_times_as_well(tmp_path: Path) -> None:
    interrupted(tmp_path, in_place=3)
    assert (tmp_path / JOURNAL).exists()
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == BEFORE
    assert {path.stat().st_mtime_ns for path in (tmp_path / "topics").iterdir()} == {OLD_NS}


def test_what_a_person_wrote_upon_our_bytes_after_a_crash_is_kept_with_its_past_p8(tmp_path: Path) -> None:
    interrupted(tmp_path, in_place=3)
    assert (tmp_path / "topics/a.md").read_bytes() == b"A2"
    (tmp_path / "topics/a.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**AFTER, "topics/a.md": b"by hand"}


def test_nothing_goes_whose_new_name_somebody_took_after_a_crash_p12(tmp_path: Path) -> None:
    interrupted(tmp_path, in_place=0)
    write(tmp_path / "archive/b.md", "by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "archive/b.md": b"by hand"}


def test_bytes_of_before_stay_where_somebody_wrote_upon_ours_and_took_a_name_p8_p12(tmp_path: Path) -> None:
    """Neither can it all be undone nor done: what was written upon has its past in the archive, and nothing is removed."""
    interrupted(tmp_path, in_place=3)
    (tmp_path / "topics/a.md").write_text("by hand")
    (tmp_path / "topics/d.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**AFTER, "topics/a.md": b"by hand", "topics/d.md": b"by hand", "topics/b.md": b"B"}


def test_a_file_is_changed_once(tmp_path: Path) -> None:
    """Of two changes to one file the second cannot find it as the first one did."""
    one, other = (FileChange("topics/d.md", None, FileState(data)) for data in (b"D", b"E"))
    with pytest.raises(ValueError, match=r"topics/d\.md"):
        Transactions(str(tmp_path)).commit([*fill(tmp_path), other])
    with pytest.raises(ValueError, match="more than once"):
        Transactions(str(tmp_path)).commit([one, one])
    assert snapshot(tmp_path) == BEFORE


def test_what_a_person_edited_before_it_was_removed_is_kept_p8(tmp_path: Path) -> None:
    interrupted(tmp_path, in_place=3)
    (tmp_path / "topics/b.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "topics/b.md": b"by hand"}


def test_a_journal_that_could_not_be_removed_undoes_nothing_of_what_was_made_p12(tmp_path: Path) -> None:
    with failing_on("journal.json", "unlink"):
        assert Transactions(str(tmp_path)).commit(fill(tmp_path))
    (tmp_path / "topics/d.md").unlink()  # by a person, who finds everything in place
    (tmp_path / "topics/b.md").write_text("B")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {path: data for path, data in AFTER.items() if path != "topics/d.md"} | {
        "topics/b.md": b"B"
    }


def test_a_journal_that_could_not_be_removed_makes_nothing_of_what_was_undone_p12(tmp_path: Path) -> None:
    changes = fill(tmp_path)
    (tmp_path / "topics/d.md").mkdir()
    with failing_on("journal.json", "unlink"):
        assert isinstance(as_result(Transactions(str(tmp_path)).commit)(changes), Failure)
    (tmp_path / "topics/d.md").rmdir()
    (tmp_path / "topics/a.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "topics/a.md": b"by hand"}


def test_a_journal_that_recovery_could_not_remove_is_over_as_well_p12(tmp_path: Path) -> None:
    interrupted(tmp_path, in_place=3)
    with failing_on("journal.json", "unlink"), pytest.raises(StoreIo):  # nothing can be written while it lies there
        Transactions(str(tmp_path)).recover()
    (tmp_path / "topics/a.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "topics/a.md": b"by hand"}


def test_the_next_transaction_is_not_over_before_it_is_made_p2(tmp_path: Path) -> None:
    with failing_on("journal.json", "unlink"):
        Transactions(str(tmp_path)).commit([FileChange("topics/e.md", None, FileState(b"E"))])
    Transactions(str(tmp_path)).recover()
    interrupted(tmp_path, in_place=2)
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "topics/e.md": b"E"}


def test_an_undo_cut_short_is_finished_all_the_same_p8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new bytes of what was undone by then are nowhere any more."""
    changes = fill(tmp_path)
    real = os.replace

    def replace(source: str, target: str) -> None:
        if target.endswith("topics/a.md") and not source.endswith(".new"):
            raise Killed
        real(source, target)

    with failing_on("topics/b.md", "unlink"), monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        with pytest.raises(Killed):
            Transactions(str(tmp_path)).commit(changes)
    assert not (tmp_path / "topics/d.md").exists()
    (tmp_path / "topics/a.md").write_text("by hand")
    Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == {**BEFORE, "topics/a.md": b"by hand"}


def test_a_damaged_journal_is_not_acted_on_p6(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / ".transaction").mkdir()
    (tmp_path / ".transaction/journal.json").write_text('{"version": 1, "steps": [{"path": "topics/a.md"')
    before = snapshot(tmp_path)
    with pytest.raises(StateCorrupt):
        Transactions(str(tmp_path)).recover()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("path", ["../outside.md", "/etc/x", "topics/../../x", "link/x.md"])
def test_no_path_leaves_the_root_p21(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    fill(root)
    (root / "link").symlink_to(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(PathRefused):
        Transactions(str(root)).commit([FileChange(path, None, FileState(b"x"))])
    assert snapshot(tmp_path) == before
