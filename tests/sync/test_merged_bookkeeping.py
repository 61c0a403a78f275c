from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.care.tombstones import FORGOTTEN, PURGE_MARK
from agent_memory.note.note import TIERS_FILE, Harness, TierList
from agent_memory.note.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone
from agent_memory.session.history import SessionMark
from agent_memory.store.bookkeeping import (
    PURGE,
    SESSION_MARK,
    STATE_VALUE,
    TAG_VOCABULARY,
    TOMBSTONE,
    StateValue,
    Tombstone,
)
from agent_memory.store.note_files import parse_tiers, render_tiers
from agent_memory.store.usage_ledger import (
    DayReads,
    LedgerRecord,
    Read,
    Total,
    counted,
    parse_ledger_line,
    render_ledger_line,
)
from agent_memory.sync.merging import merged_bookkeeping, merged_ledger

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
DAY = 20_000
AT_MS = DAY * 86_400_000 + 5_000


def ledger(*records: LedgerRecord) -> bytes:
    return b"".join(map(render_ledger_line, records))


def records_of(data: bytes) -> tuple[LedgerRecord, ...]:
    found = [parse_ledger_line(line) for line in data.splitlines()]
    assert None not in found
    return tuple(each for each in found if each is not None)


class TestLedgerOfOneHostOnTwoMachines:
    def test_a_side_that_has_compacted_keeps_what_the_other_has_read_since(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"), Read(A, AT_MS + 1, "codex"))
        compacted = ledger(Total(A, 2, AT_MS + 1), DayReads(DAY, "codex", 2))
        read_on = base + ledger(Read(A, AT_MS + 2, "codex"))
        for ours, theirs in ((compacted, read_on), (read_on, compacted)):
            assert counted(records_of(merged_ledger(base, ours, theirs))).totals[A].count == 3

    def test_where_both_have_compacted_the_larger_count_of_each_entry_stands(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        ours = ledger(Total(A, 3, AT_MS + 9), Total(B, 1, AT_MS))
        theirs = ledger(Total(A, 2, AT_MS), Total(B, 4, None))
        usage = counted(records_of(merged_ledger(base, ours, theirs))).totals
        assert (usage[A].count, usage[A].last_at_ms) == (3, AT_MS + 9)
        assert usage[B].count == 4

    def test_where_both_have_compacted_it_is_still_known_who_read_on_which_day(self) -> None:
        base = ledger(Read(A, AT_MS, "codex"))
        ours = ledger(Total(A, 3, AT_MS), DayReads(DAY, "codex", 3), Read(A, AT_MS, "amp"))
        theirs = ledger(Total(A, 2, AT_MS), DayReads(DAY, "codex", 1), DayReads(DAY + 1, "codex", 1))
        known = counted(records_of(merged_ledger(base, ours, theirs))).day_reads
        assert known == (DayReads(DAY, "amp", 1), DayReads(DAY, "codex", 3), DayReads(DAY + 1, "codex", 1))

    @given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3), st.integers(0, 5), st.integers(0, 5))
    def test_neither_side_ever_loses_a_read(self, before: list[int], ours: int, theirs: int) -> None:
        base = ledger(*(Read(A, AT_MS + each, "codex") for each in before))
        sides = [base + ledger(*[Read(A, AT_MS + 10 + at, "amp")] * count) for at, count in enumerate((ours, theirs))]
        usage = counted(records_of(merged_ledger(base, *sides))).totals
        assert usage[A].count == len(before) + ours + theirs


def tiers(base: TierList | None, ours: TierList, theirs: TierList) -> TierList:
    sides = (None if base is None else render_tiers(base), render_tiers(ours), render_tiers(theirs))
    merged = merged_bookkeeping(TIERS_FILE, *sides)
    assert merged is not None
    return parse_tiers(merged, TIERS_FILE).unwrap()


class TestTiers:
    def test_an_entry_is_where_the_side_that_moved_it_has_it(self) -> None:
        base = TierList((A, B), (C,))
        assert tiers(base, TierList((B,), (A, C)), base) == TierList((B,), (A, C))
        assert tiers(base, base, TierList((A, B, C), ())) == TierList((A, B, C), ())

    def test_where_both_moved_it_the_nearer_tier_holds(self) -> None:
        assert tiers(TierList((A,), ()), TierList((), (A,)), TierList((), ())) == TierList((), (A,))


def tombstone(ours: Tombstone, theirs: Tombstone) -> Tombstone:
    path = f"{FORGOTTEN}/some.json"
    merged = merged_bookkeeping(path, None, TOMBSTONE.render(ours).encode(), TOMBSTONE.render(theirs).encode())
    assert merged is not None
    return TOMBSTONE.parse(merged, path)


class TestWhatWasForgotten:
    """P28."""

    def test_a_note_forgotten_twice_stays_forgotten_by_all_it_said(self) -> None:
        one, other = EntryTombstone(A, 1_000, frozenset({"1" * 16})), EntryTombstone(A, 2_000, frozenset({"2" * 16}))
        both = EntryTombstone(A, 2_000, one.statements | other.statements)
        assert tombstone(one, other) == tombstone(other, one) == both

    def test_a_session_forgotten_twice_was_forgotten_when_it_was_last(self) -> None:
        one, other = (SessionTombstone("s-1", Harness.CODEX, at_ms) for at_ms in (1_000, 2_000))
        assert tombstone(one, other) == tombstone(other, one) == other

    def test_the_later_purge_counts(self) -> None:
        merged = merged_bookkeeping(PURGE_MARK, None, PURGE.render(1_000).encode(), PURGE.render(2_000).encode())
        assert merged is not None
        assert PURGE.parse(merged, PURGE_MARK) == 2_000


MARK = SessionMark(Harness.CODEX, "s-1", "r-9", AT_MS, 9, tools_answered=False, agent_name="builtin", entry_ids=(A,))
MARK_FILE = "state/sessions/codex_s-1.json"


def marks(ours: SessionMark, theirs: SessionMark) -> SessionMark:
    sides = (SESSION_MARK.render(ours).encode(), SESSION_MARK.render(theirs).encode())
    merged = merged_bookkeeping(MARK_FILE, None, *sides)
    assert merged is not None
    return SESSION_MARK.parse(merged, MARK_FILE)


def test_of_two_marks_of_a_session_the_further_one_holds_with_what_both_made() -> None:
    other = evolve(MARK, last_record_id="r-12", turns_seen=12, tools_answered=True, entry_ids=(B,), handoff_id=None)
    ours = evolve(MARK, handoff_id=C, used_ids=(C,))
    merged = marks(ours, other)
    assert merged == marks(other, ours)
    assert (merged.last_record_id, merged.turns_seen, merged.tools_answered) == ("r-12", 12, True)
    assert (set(merged.entry_ids), merged.used_ids, merged.handoff_id) == ({A, B}, (C,), C)


def vocabulary(base: TagVocabulary | None, ours: TagVocabulary, theirs: TagVocabulary) -> TagVocabulary:
    sides = (None if base is None else TAG_VOCABULARY.render(base), *map(TAG_VOCABULARY.render, (ours, theirs)))
    merged = merged_bookkeeping(VOCABULARY_FILE, *(None if side is None else side.encode() for side in sides))  # type: ignore[arg-type]
    assert merged is not None
    return TAG_VOCABULARY.parse(merged, VOCABULARY_FILE)


class TestTags:
    def test_what_either_accepts_is_accepted_and_what_one_took_out_is_not(self) -> None:
        base = TagVocabulary(frozenset({"topic__a", "topic__b"}))
        ours, theirs = TagVocabulary(frozenset({"topic__a"})), base.with_accepted(["topic__c"])
        assert vocabulary(base, ours, theirs).accepted == {"topic__a", "topic__c"}

    def test_renamings_of_both_are_followed_to_their_ends(self) -> None:
        base = TagVocabulary(frozenset({"topic__a", "topic__b"}))
        ours, theirs = base.with_renamed("topic__a", "topic__b"), base.with_renamed("topic__b", "topic__c")
        for merged in (vocabulary(base, ours, theirs), vocabulary(base, theirs, ours)):
            assert merged.renamed == {"topic__a": "topic__c", "topic__b": "topic__c"}
            assert merged.accepted == {"topic__c"}

    def test_two_tags_that_were_renamed_into_each_other_are_one(self) -> None:
        base = TagVocabulary(frozenset({"topic__a", "topic__b"}))
        ours, theirs = base.with_renamed("topic__a", "topic__b"), base.with_renamed("topic__b", "topic__a")
        merged = vocabulary(base, ours, theirs)
        assert merged.accepted == {"topic__a"}
        assert merged.renamed == {"topic__b": "topic__a"}


KEY_FILE = "state/keys/colour.json"
OLDER, NEWER = (
    STATE_VALUE.render(StateValue("colour", json, at_ms)).encode() for json, at_ms in (('"red"', 1), ("7", 2))
)


class TestValuesByKey:
    def test_the_one_that_was_set_later_holds(self) -> None:
        assert merged_bookkeeping(KEY_FILE, None, OLDER, NEWER) == NEWER
        assert merged_bookkeeping(KEY_FILE, None, NEWER, OLDER) == NEWER


@pytest.mark.parametrize("path", [TIERS_FILE, VOCABULARY_FILE, PURGE_MARK, f"{FORGOTTEN}/x.json", MARK_FILE])
def test_a_side_that_cannot_be_understood_is_left_to_a_person_p6(path: str) -> None:
    assert merged_bookkeeping(path, None, b"{", b"{") is None
