from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Usage
from agent_memory.store.usage_ledger import (
    MAX_LINE_BYTES,
    Base,
    DayReads,
    LedgerRecord,
    Read,
    Total,
    base_of,
    counted,
    parse_ledger_line,
    render_ledger_line,
)

ids = st.from_regex(r"id__[1-9A-HJ-NP-Za-km-z]{6}", fullmatch=True)
instants = st.integers(0, 2**53 - 1)
records = st.one_of(
    st.builds(Read, ids, instants, st.sampled_from(["claude-code", "manual"])),
    st.builds(Total, ids, instants, st.none() | instants),
    st.builds(Base, ids, instants, st.none() | instants),
    st.builds(DayReads, st.integers(0, 10**6), st.sampled_from(["claude-code", "manual"]), instants),
)


@settings(max_examples=60)
@given(records)
def test_a_line_says_what_was_recorded(record: LedgerRecord) -> None:
    line = render_ledger_line(record)
    assert parse_ledger_line(line) == record
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


def test_the_longest_read_is_far_below_what_one_write_keeps_whole_p7() -> None:
    longest = Read("id__zzzzzz", 2**53 - 1, "r" * 64)
    assert parse_ledger_line(line := render_ledger_line(longest)) == longest
    assert len(line) < 200 < MAX_LINE_BYTES


@settings(max_examples=60)
@given(records, st.data())
def test_a_cut_line_is_no_record(record: LedgerRecord, data: st.DataObject) -> None:
    line = render_ledger_line(record).rstrip(b"\n")
    assert parse_ledger_line(line[: data.draw(st.integers(0, len(line) - 1))]) is None


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\xff\xfe", b'{"id":"id__a1b2c3"}', b'{"id":"id__a1b2c3","at":-1,"by":"amp"}',
        b'{"id":"id__a1b2c3","at":1,"by":"amp","more":1}', b'{"id":"../../x","at":1,"by":"amp"}',
        b'{"id":"id__a1b2c3","total":2,"last":"x"}', b'{"id":"id__a1b2c3","total":false,"last":null}',
        b'{"day":1,"by":"a b","reads":1}', b'{"day":1e99,"by":"amp","reads":1}',
    ],
)  # fmt: skip
def test_what_is_not_ours_is_no_record(line: bytes) -> None:
    assert parse_ledger_line(line) is None


@settings(max_examples=60)
@given(st.lists(records))
def test_counting_some_of_the_records_first_changes_nothing(some: list[LedgerRecord]) -> None:
    half = len(some) // 2
    again, whole = counted([*counted(some[:half]).records, *some[half:]]), counted(some)
    assert (again.totals, again.day_reads) == (whole.totals, whole.day_reads)


def test_reads_and_totals_add_up() -> None:
    assert counted([Read("a", 5, "amp"), Total("a", 3, None), Read("b", 1, "amp"), Total("a", 2, 9)]).totals == {
        "a": Usage(6, 9),
        "b": Usage(1, 1),
    }


def test_of_several_bases_the_greatest_counts_once() -> None:
    assert counted([Base("a", 12, 9), Read("a", 5, "amp"), Base("a", 12, None), Base("a", 3, 20)]).totals == {
        "a": Usage(13, 20)
    }


@settings(max_examples=60)
@given(ids, st.integers(), st.none() | st.integers())
def test_whatever_a_person_wrote_makes_a_base(id: str, count: int, last_at_ms: int | None) -> None:
    base = base_of(id, Usage(count, last_at_ms))
    assert parse_ledger_line(render_ledger_line(base)) == base
