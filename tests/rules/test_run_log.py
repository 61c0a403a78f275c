"""Which runs are kept, which stand, and what became of files over several changes."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.rules.change import FileChange, FileState
from agent_memory.rules.run_log import (
    KeptRun,
    UndoneMark,
    prune_runs,
    undone_by,
    undone_fingerprints,
)
from agent_memory.rules.undo_run import fold_files
from agent_memory.text.instants import DAY_MS

NOW_MS = 1_800_000_000_000


def run(number: int, days: float, *, unfinished: bool = False) -> KeptRun:
    return KeptRun(f"run-{number:06}", NOW_MS - int(days * DAY_MS), unfinished)


def test_old_runs_beyond_the_newest_lose_their_details_and_ancient_ones_all() -> None:
    runs = [run(3, 1), run(2, 200), run(1, 300), run(0, 500)]
    details, whole = prune_runs(runs, NOW_MS, keep_runs=1, keep_days=180)
    assert (details, whole) == (("run-000002", "run-000001"), ("run-000000",))


def test_young_runs_stay_however_many_they_are() -> None:
    assert prune_runs([run(number, 1) for number in range(500)], NOW_MS, keep_runs=10)[0] == ()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 600), st.booleans()), max_size=30), st.integers(0, 40), st.integers(0, 500))
def test_the_newest_run_always_stays_whole(ages: list[tuple[int, bool]], keep_runs: int, keep_days: int) -> None:
    runs = [run(number, days, unfinished=unfinished) for number, (days, unfinished) in enumerate(ages)]
    details, whole = prune_runs(runs, NOW_MS, keep_runs=keep_runs, keep_days=keep_days)
    gone = {*details, *whole}
    assert len(gone) == len(details) + len(whole)
    assert not gone.intersection(each.run_id for each in runs if each.unfinished)
    assert not gone.intersection(each.run_id for each in runs[-max(keep_runs, 1) :])


def test_undoing_an_undo_and_that_again_flips_what_stands() -> None:
    marks = {"r": UndoneMark("u", frozenset({"f"}))}
    assert undone_by(marks) == {"r": "u"}
    marks["u"] = UndoneMark("v")
    assert undone_by(marks) == {"u": "v"}
    assert undone_fingerprints(marks) == frozenset()
    marks["v"] = UndoneMark("w")
    assert undone_by(marks) == {"r": "u", "v": "w"}
    assert undone_fingerprints(marks) == {"f"}


def test_marks_that_go_round_in_a_circle_do_not_hang() -> None:
    assert set(undone_by({"a": UndoneMark("b"), "b": UndoneMark("a")})) <= {"a", "b"}


states = st.none() | st.binary(max_size=2).map(FileState)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.sampled_from("ab"), states), max_size=8))
def test_folded_changes_lead_from_what_was_there_to_what_was_left(writes: list[tuple[str, FileState | None]]) -> None:
    disk: dict[str, FileState | None] = {"a": FileState(b"a"), "b": None}
    before = dict(disk)
    changes = []
    for path, after in writes:
        changes.append(FileChange(path, disk[path], after))
        disk[path] = after
    folded = fold_files(changes)
    assert folded.interrupted == ()
    assert {each.path: each.before for each in folded.files} == {p: before[p] for p in disk if disk[p] != before[p]}
    assert {each.path: each.after for each in folded.files} == {p: disk[p] for p in disk if disk[p] != before[p]}


def test_what_somebody_else_wrote_between_two_changes_is_named_p8() -> None:
    a, b, c, d = (FileState(each) for each in (b"a", b"b", b"c", b"d"))
    folded = fold_files([FileChange("x", a, b), FileChange("x", c, d), FileChange("y", None, a)])
    assert folded.interrupted == ("x",)
