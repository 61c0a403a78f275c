"""Entries are found by their hashes, page by page, as they were written; no page is lost unseen."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.adapters.index.index_database import IndexDatabase, in_memory
from agent_memory.adapters.index.seals import RuinedIndexError
from agent_memory.adapters.index.tie_pages import PLACES, TiePages, TieShape
from agent_memory.adapters.index.tie_writing import TieEntry, all_ties, shape_for, write_ties

hashes = st.integers(0, (1 << 64) - 1) | st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1])
entries = st.lists(
    st.tuples(hashes, st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 9)), max_size=30, unique=True
).map(sorted)


def written(some: list[TieEntry], bits: int) -> tuple[IndexDatabase, TieShape]:
    database = in_memory(None)
    return database, write_ties(database.connection, 3, PLACES, bits, some)


@given(some=entries, bits=st.integers(0, 4), other=hashes)
def test_entries_are_found_by_their_hashes(some: list[TieEntry], bits: int, other: int) -> None:
    database, shape = written(some, bits)
    assert shape == TieShape(bits, len(some))
    asked = {hash for hash, _, _ in some} | {other}
    pages = TiePages().of(database.connection, 3, PLACES, shape, asked)
    found = [(hash, page.values[at], page.ordinals[at]) for hash, page in pages.items() for at in page.of(hash)]
    assert sorted(found) == some
    kept = [(hash, value, ordinal + 5) for hash, value, ordinal in some if ordinal != 4]
    places = [-1 if ordinal == 4 else ordinal + 5 for ordinal in range(10)]
    assert list(all_ties(database.connection, 3, PLACES, shape, places)) == kept
    database.close()


@given(some=entries, value=st.integers(-4, 4), reach=st.integers(0, 3))
def test_entries_around_a_value_are_found(some: list[TieEntry], value: int, reach: int) -> None:
    near = sorted((7, each % 11 - 5, ordinal) for _, each, ordinal in some)
    database, shape = written(near, 1)
    (page,) = TiePages().of(database.connection, 3, PLACES, shape, (7,)).values() if near else (None,)
    found = list(page.around(page.of(7), value, reach)) if page is not None else []
    assert found == [(ordinal, each) for _, each, ordinal in near if abs(each - value) <= reach]
    database.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM ties WHERE page = 3",
        "UPDATE ties SET page = 7 WHERE page = 3",
        "UPDATE ties SET sort = 0",
        "UPDATE ties SET segment = 4",
        "UPDATE ties SET entries = x'' WHERE page = 3",
        "UPDATE ties SET seal = seal + 1",
    ],
)
def test_a_page_that_is_lost_or_changed_is_no_answer(damage: str) -> None:
    some = [(number << 56, number, 0) for number in range(256)]
    database, shape = written(some, 2)
    of_last = some[-1][0]
    assert TiePages().of(database.connection, 3, PLACES, shape, (of_last,))[of_last].of(of_last)
    database.connection.execute(damage)
    with pytest.raises(RuinedIndexError):
        TiePages().of(database.connection, 3, PLACES, shape, (of_last,))
    database.close()


def test_a_page_has_about_as_many_entries_whatever_their_number() -> None:
    assert [shape_for(entries) for entries in (0, 1, 128, 129, 256, 257, 100_000)] == [0, 0, 0, 1, 1, 2, 10]
