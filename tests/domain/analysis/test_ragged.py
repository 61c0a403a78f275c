from __future__ import annotations

from array import array

from hypothesis import given, settings, strategies as st

from agent_memory.domain.analysis import ragged
from agent_memory.domain.analysis.ragged import Ragged

rows = st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 2**32 - 1), max_size=4), max_size=6)


@settings(max_examples=100)
@given(st.lists(rows, max_size=6), st.integers(0, 4))
def test_it_holds_the_last_of_what_was_said_of_each_row(history: list[dict[int, list[int]]], most: int) -> None:
    before, ragged._MOST_CHANGES = ragged._MOST_CHANGES, most
    try:
        found, model = Ragged.empty(), dict[int, list[int]]()
        for changes in history:
            found = found.replaced({at: array("I", row) for at, row in changes.items()})
            model |= changes
    finally:
        ragged._MOST_CHANGES = before
    for same in (found, found.whole()):
        assert len(same) == max(model, default=-1) + 1
        assert [list(same.row(at)) for at in range(14)] == [model.get(at, []) for at in range(14)]
        assert [same.size(at) for at in range(14)] == [len(model.get(at, [])) for at in range(14)]
        assert same.all_starts() == found.whole().starts
        assert b"".join(same.parts()) == found.whole().values.tobytes()
    whole = found.whole()
    owners = [at for at in sorted(model) for _ in model[at]]
    assert [whole.row_at(place) for place in range(len(whole.values))] == owners


def test_what_was_there_stays_as_it_was() -> None:
    first = Ragged.empty("Q").replaced({0: array("Q", [2**60])}).whole()
    second = first.replaced({0: array("Q", [1, 2]), 2: array("Q")})
    assert list(first.row(0)) == [2**60]
    assert (list(second.row(0)), len(second)) == ([1, 2], 3)
    assert second.values is first.values
