"""Which runs stand, and what became of files over several changes."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.rules.change import FileChange, FileState, fold_files

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
