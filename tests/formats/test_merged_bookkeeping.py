from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.usage import Base, DayReads, LedgerRecord, Read, Total, day_reads, totals_of
from agent_memory.formats.ledger_lines import parse_ledger_line, render_ledger_line
from agent_memory.formats.merged_bookkeeping import merged_ledger

A, B = "id__aaaaaa", "id__bbbbbb"
DAY = 20_000
AT_MS = DAY * 86_400_000 + 5_000


def ledger(*records: LedgerRecord) -> bytes:
    return b"".join(map(render_ledger_line, records))


def records_of(data: bytes) -> tuple[LedgerRecord, ...]:
    found = [parse_ledger_line(line) for line in data.splitlines()]
    assert None not in found
    return tuple(each for each in found if each is not None)


class TestLedgerOfOneHostOnTwoMachines:
    def test_what_either_has_read_since_is_there_once(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        merged = merged_ledger(base, base + ledger(Read(A, AT_MS + 1, "codex")), base + ledger(Read(B, AT_MS, "amp")))
        usage = totals_of(records_of(merged))
        assert (usage[A].count, usage[B].count) == (2, 1)

    def test_a_side_that_has_compacted_keeps_what_the_other_has_read_since(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"), Read(A, AT_MS + 1, "codex"))
        compacted = ledger(Total(A, 2, AT_MS + 1), DayReads(DAY, "codex", 2))
        read_on = base + ledger(Read(A, AT_MS + 2, "codex"))
        for ours, theirs in ((compacted, read_on), (read_on, compacted)):
            assert totals_of(records_of(merged_ledger(base, ours, theirs)))[A].count == 3

    def test_where_both_have_compacted_the_larger_count_of_each_entry_stands(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        ours = ledger(Total(A, 3, AT_MS + 9), Total(B, 1, AT_MS), Base(A, 7, None))
        theirs = ledger(Total(A, 2, AT_MS), Total(B, 4, None), Base(A, 5, AT_MS))
        usage = totals_of(records_of(merged_ledger(base, ours, theirs)))
        assert (usage[A].count, usage[A].last_at_ms) == (3 + 7, AT_MS + 9)
        assert usage[B].count == 4

    def test_where_both_have_compacted_it_is_still_known_who_read_on_which_day(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        ours = ledger(Total(A, 3, AT_MS), DayReads(DAY, "codex", 3), Read(A, AT_MS, "amp"))
        theirs = ledger(Total(A, 2, AT_MS), DayReads(DAY, "codex", 1), DayReads(DAY + 1, "codex", 1))
        known = day_reads(records_of(merged_ledger(base, ours, theirs)))
        assert known == (DayReads(DAY, "amp", 1), DayReads(DAY, "codex", 3), DayReads(DAY + 1, "codex", 1))

    def test_a_line_that_cannot_be_read_takes_no_other_with_it(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        merged = merged_ledger(base, b"{half a line\n" + ledger(Total(A, 3, AT_MS)), ledger(Total(A, 2, AT_MS)))
        assert totals_of(records_of(merged))[A].count == 3

    @given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3), st.integers(0, 5), st.integers(0, 5))
    def test_neither_side_ever_loses_a_read(self, before: list[int], ours: int, theirs: int) -> None:
        base = ledger(*(Read(A, AT_MS + each, "codex") for each in before))
        sides = [base + ledger(*[Read(A, AT_MS + 10 + at, "amp")] * count) for at, count in enumerate((ours, theirs))]
        usage = totals_of(records_of(merged_ledger(base, *sides)))
        assert usage[A].count == len(before) + ours + theirs


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_ledger_whose_last_line_has_no_end_loses_nothing(end: bytes) -> None:
    base = ledger(Read(A, AT_MS, "codex"))
    merged = merged_ledger(base, base.rstrip(b"\n") + end, base + ledger(Read(B, AT_MS, "amp")))
    assert set(totals_of(records_of(merged))) == {A, B}
