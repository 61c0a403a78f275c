"""In which order people and agents are told of entries."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, newest_first


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=8))
def test_the_last_changed_comes_first_and_then_by_id(changes: list[tuple[str, int]]) -> None:
    entries = [Listed(Meta(f"id__{id}", "A note", 0, at_ms), "topics/a.md", "") for id, at_ms in changes]
    expected = sorted(range(len(changes)), key=lambda at: (-changes[at][1], changes[at][0]))
    assert newest_first(entries) == expected
