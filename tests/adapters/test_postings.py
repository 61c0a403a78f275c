"""Postings and segments are read as they were written, and moved whole."""

from __future__ import annotations

import sqlite3
import struct
from array import array
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from agent_memory.adapters.index.index_database import in_memory
from agent_memory.adapters.index.postings import live_count, moved, parse_postings, render_group, width_of
from agent_memory.adapters.index.seals import RuinedIndexError
from agent_memory.adapters.index.segments import Segment, load_segment, put_segment
from agent_memory.adapters.index.tie_pages import TieShape

counts = st.binary(min_size=4, max_size=4).filter(any)
ordinals = st.sets(st.integers(0, 65_535), min_size=1, max_size=40).map(sorted)
groups = st.dictionaries(counts, ordinals, max_size=6)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    database = in_memory(None)
    yield database.connection
    database.close()


@given(groups=groups, width=st.sampled_from("HI"))
def test_groups_are_read_as_they_were_written(groups: dict[bytes, list[int]], width: str) -> None:
    blob = b"".join(render_group(counts, array(width, some)) for counts, some in groups.items())
    assert {counts: list(some) for counts, some in parse_postings(blob, width)} == groups


@given(groups=groups, gone=st.frozensets(st.integers(0, 65_535)))
def test_only_live_notes_count(groups: dict[bytes, list[int]], gone: frozenset[int]) -> None:
    blob = b"".join(render_group(counts, array("H", some)) for counts, some in groups.items())
    assert live_count(parse_postings(blob, "H"), gone) == sum(o not in gone for some in groups.values() for o in some)


@given(some=ordinals, by=st.integers(0, 1 << 31))
def test_ordinals_are_moved_alike_one_by_one_and_at_once(some: list[int], by: int) -> None:
    assert list(moved(array("H", some), by, "I")) == [ordinal + by for ordinal in some]
    assert list(moved(array("I", some), by, "I")) == [ordinal + by for ordinal in some]


def test_narrow_ordinals_stay_narrow_where_there_is_room() -> None:
    assert moved(array("H", [0, 65_000]), 535, "H") == array("H", [535, 65_535])


@pytest.mark.parametrize("blob", [b"\1", b"\1\0\0\0\5\0\0\0\1\0"])
def test_a_blob_that_is_cut_off_is_no_postings(blob: bytes) -> None:
    with pytest.raises((ValueError, struct.error)):
        parse_postings(blob, "H")


def test_a_segment_knows_up_to_65_536_notes_by_two_bytes() -> None:
    assert (width_of(1 << 16), width_of((1 << 16) + 1)) == ("H", "I")


@given(
    numbers=st.sets(st.integers(1, 300), min_size=1).map(sorted),
    most=st.sampled_from([3, 255, 256, 70_000]),
)
def test_a_segment_is_loaded_as_it_was_put(numbers: list[int], most: int) -> None:
    database = in_memory(None)
    lengths = [[(number * at) % (most + 1) for number in numbers] for at in range(3)] + [[most] * len(numbers)]
    sums, ties = tuple(map(sum, lengths)), (TieShape(0, 3), TieShape(2, 700), TieShape(0, 0))
    odd = frozenset(at for at, number in enumerate(numbers) if number % 2)
    put_segment(database.connection, Segment(1, numbers, tuple(lengths), sums, 9, ties, odd, frozenset({0})))
    loaded = load_segment(database.connection, 1)
    assert list(loaded.numbers) == numbers
    assert [list(each) for each in loaded.lengths] == lengths
    assert (loaded.length_sums, loaded.terms, loaded.ties) == (sums, 9, ties)
    assert (loaded.archived, loaded.private) == (odd, frozenset({0}))
    assert {number: loaded.ordinal_of(number) for number in numbers} == {n: at for at, n in enumerate(numbers)}
    asked = sorted({*numbers, 0, 150, 301})
    assert loaded.ordinals_of(asked) == frozenset(at for at, n in enumerate(numbers) if n in asked)
    database.close()


@pytest.mark.parametrize(
    "damage",
    [
        "lengths = x'42'",
        "lengths = x'5a00'",
        "lengths = 7",
        "notes = 3",
        "notes = 0",
        "notes = -1",
        "notes = 'x'",
        "length_sums = '1 2'",
        "length_sums = 'a b c d'",
        "length_sums = x''",
        "numbers = x'01'",
        "numbers = 1",
        "terms = terms + 1",
        "ties = '0 0 0 0 1 7'",
        "ties = 7",
        "archived = x'00000000'",
        "private = x'00000000'",
        "archived = x'00000000', private = x''",
        "seal = seal + 1",
        "first = first + 1",
    ],
)
def test_a_segment_that_is_not_as_it_was_put_is_ruined(connection: sqlite3.Connection, damage: str) -> None:
    segment = Segment(1, [4, 5], ([1, 2],) * 4, (3,) * 4, 1, (TieShape(0, 0),) * 3, private=frozenset({1}))
    put_segment(connection, segment)
    assert len(load_segment(connection, 1).numbers) == 2
    connection.execute(f"UPDATE segments SET {damage}")
    with pytest.raises(RuinedIndexError):
        load_segment(connection, 1)
