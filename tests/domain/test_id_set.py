"""P25: a set of ids in little memory."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.text.file_name import IdSet


@settings(max_examples=40)
@given(st.lists(st.text(max_size=4), max_size=60))
def test_it_is_a_set(ids: list[str]) -> None:
    held, reference = IdSet(), set[str]()
    for id in ids:
        assert held.add(id) is (id not in reference)
        reference.add(id)
    assert len(held) == len(reference)
    assert all(id in held for id in reference)
    assert "none of them" not in held


def test_it_grows() -> None:
    held = IdSet()
    assert all(held.add(f"id-{number}") for number in range(5_000))
    assert not any(held.add(f"id-{number}") for number in range(5_000))
    assert len(held) == 5_000
