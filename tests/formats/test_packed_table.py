"""A table of packed entries gives what was packed, whatever is asked of it and in whatever order."""

from __future__ import annotations

from operator import attrgetter

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, Source
from agent_memory.domain.packed_entries import (
    NOTHING,
    Entries,
    Unpacking,
    column_of,
    in_order,
    one_by_one,
    path_of,
    rows_of,
    unpacked,
    unpacking,
)
from agent_memory.domain.vocabulary import Harness, Kind
from packed_notes import table_of

FIELDS = (
    *("path", "body_hash", "meta.id", "meta.kind", "meta.tags", "meta.aliases", "meta.expires_at_ms"),
    *("meta.thread_ids", "meta.turns"),
)


def entry(number: int) -> Listed:
    meta = Meta(
        f"id__{number:06}",
        f"Title {number}",
        number,
        number,
        kind=list(Kind)[number % 3],
        tags=(f"topic__{number % 5}",) * (number % 3),
        aliases=("id__alias1",) if number % 4 == 0 else (),
        expires_at_ms=number if number % 2 else None,
        sources=tuple(Source(Harness.AMP, f"T-{number}-{each}", turns=(each,) * each) for each in range(number % 3)),
    )
    return Listed(meta, f"topics/{number:06}.md", f"hash {number}", body_hash=f"body {number % 7}")


ENTRIES = [entry(number) for number in range(11)]
asked = st.lists(st.sampled_from(("all", *FIELDS)) | st.integers(0, len(ENTRIES) - 1), max_size=8)


@given(asked)
def test_it_gives_what_was_packed_in_whatever_order_it_is_asked(questions: list[str | int]) -> None:
    table = table_of(ENTRIES)
    known: dict[int, Listed] = {}
    for each in questions:
        if isinstance(each, int):
            found = table.entry(each)
            assert found == ENTRIES[each]
            assert found is known.setdefault(each, found)
        elif each == "all":
            assert list(table.entries()) == ENTRIES
            assert all(table.entries()[number] is made for number, made in known.items())
        else:
            assert list(table.column(each)) == list(map(attrgetter(each), ENTRIES))


def test_a_path_is_the_same_object_wherever_it_is_asked_for_p25() -> None:
    table = table_of(ENTRIES)
    assert table.entry(4).path is table.paths[4] is table.column("path")[4]
    assert all(each.path is path for each, path in zip(table.entries(), table.paths, strict=True))


def test_a_table_of_nothing_has_nothing() -> None:
    for nothing in (table_of([]), NOTHING):
        assert list(nothing.entries()) == list(nothing.column("path")) == []
        assert nothing.postings(None) == nothing.postings(frozenset({"x"}))
        assert not nothing.postings(None).places


def test_entries_of_which_some_are_packed_are_a_sequence_like_any_other() -> None:
    rows: list[Listed | int] = [0, ENTRIES[1], 2]
    entries = Entries(rows, table_of(ENTRIES))
    whole = tuple(ENTRIES[:3])
    assert (len(entries), entries[0], entries[-1], tuple(entries[1:])) == (3, whole[0], whole[2], whole[1:])
    assert entries == whole
    assert whole == entries
    assert entries != whole[1:]
    assert (hash(entries), repr(entries)) == (hash(whole), repr(whole))
    for field in FIELDS:
        assert column_of(entries, field) == column_of(whole, field) == list(map(attrgetter(field), whole))
    assert rows_of(entries)[0] == rows
    assert rows_of(entries)[0] is not rows
    assert rows_of(whole) == (list(whole), NOTHING)


def test_values_of_which_some_are_packed_are_a_mapping_like_any_other() -> None:
    values = Unpacking[Listed]({"a": 0, "b": ENTRIES[1]}, table_of(ENTRIES))
    whole = {"a": ENTRIES[0], "b": ENTRIES[1]}
    assert values == whole
    assert ("a" in values, "c" in values, values.get("c"), len(values), list(values)) == (
        True,
        False,
        None,
        2,
        ["a", "b"],
    )
    copy = unpacking(values)
    copy.rows["c"] = 2
    assert (copy["c"], "c" in values) == (ENTRIES[2], False)
    assert unpacked(values) == unpacked(whole) == unpacking(whole) == whole


@given(st.lists(st.integers(0, len(ENTRIES) - 1)), st.lists(st.booleans(), min_size=11, max_size=11))
def test_entries_can_be_put_in_another_order_and_gone_through_one_by_one(places: list[int], packed: list[bool]) -> None:
    some = Entries([at if is_packed else ENTRIES[at] for at, is_packed in enumerate(packed)], table_of(ENTRIES))
    ordered = in_order(some, places)
    assert list(one_by_one(ordered)) == list(ordered) == [ENTRIES[place] for place in places]
    assert column_of(ordered, "meta.id") == [ENTRIES[place].meta.id for place in places]


def test_who_stops_after_some_has_not_unpacked_the_others_p25() -> None:
    many = [entry(number) for number in range(2_000)]
    table = table_of(many, 100)
    assert next(one_by_one(Entries(range(2_000), table))) == many[0]
    assert 0 < len(table._made) < 100


@given(st.lists(st.sampled_from(range(len(ENTRIES))), unique=True, min_size=1))
def test_the_path_of_an_entry_is_told_whether_it_is_packed_or_not(packed: list[int]) -> None:
    rows: dict[str, Listed | int] = {each.meta.id: at if at in packed else each for at, each in enumerate(ENTRIES)}
    entries = Unpacking(rows, table_of(ENTRIES))
    assert [path_of(entries, each.meta.id) for each in ENTRIES] == [each.path for each in ENTRIES]
    assert path_of(entries, "id__nobody") is None
