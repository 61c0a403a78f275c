"""P14: one run changes a quarter of the store at most."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.plan import Plan, admit, changed_id, changed_ids, max_changes


def entry(id: str) -> MemoryEntry:
    return MemoryEntry(Meta(id, "t", 0, 0), "b")


def test_a_quarter_and_at_least_three() -> None:
    assert [max_changes(live) for live in (0, 3, 12, 15, 16, 400)] == [3, 3, 3, 3, 4, 100]


def test_new_entries_always_pass_and_the_rest_waits_in_order() -> None:
    changes: tuple[Change, ...] = (
        Replace(entry("a"), "h"),
        Create(entry("n")),
        Retire("b", "h"),
        Retire("c", "h"),
        Replace(entry("d"), "h"),
        Create(entry("m")),
    )
    admitted = admit(changes, frozenset(), 0)
    assert admitted.changes == (*changes[:4], changes[5])
    assert admitted.deferred == (changes[4],)
    assert admitted.changed == {"a", "b", "c"}


def test_an_entry_that_the_run_has_changed_counts_once() -> None:
    admitted = admit((Replace(entry("a"), "h"), Retire("d", "h")), frozenset("abc"), 0)
    assert admitted.changes == (Replace(entry("a"), "h"),)


@pytest.mark.parametrize(
    ("change", "id"),
    [(Replace(entry("a"), "h"), "a"), (Retire("b", "h"), "b"), (Create(entry("c")), None), (Restore("d"), None)],
)
def test_which_entry_a_change_is_about(change: Change, id: str | None) -> None:
    assert changed_id(change) == id
    assert changed_ids(Plan((change,))) == (frozenset() if id is None else {id})


IDS = st.sampled_from("abcdefgh")


@settings(deadline=None)
@given(
    st.lists(st.builds(Retire, IDS, st.just("h")) | st.builds(Create, st.builds(entry, IDS)), max_size=12),
    st.frozensets(IDS, max_size=3),
    st.integers(0, 40),
)
def test_nothing_is_lost_and_the_limit_holds(changes: list[Change], before: frozenset[str], live: int) -> None:
    admitted = admit(changes, before, live)
    assert sorted(map(repr, admitted.changes + admitted.deferred)) == sorted(map(repr, changes))
    assert len(admitted.changed) <= max(max_changes(live), len(before))
