from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.session.queue import (
    BACKFILL_EVENT,
    FIRST_BACKOFF_MS,
    MAX_BACKOFF_MS,
    UPGRADE_EVENT,
    Context,
    InboxEntry,
    SessionFile,
    Trouble,
    after_fault,
    after_timeout,
    after_unavailable,
    fold_queue,
    is_exhausted,
    is_waiting,
)
from agent_memory.text.instants import DAY_MS
from inbox_entries import AT_MS, entries, note, session

NOW = AT_MS + DAY_MS


def names_of(items: list[tuple[str, InboxEntry]], troubles: dict[str, Trouble] | None = None) -> list[tuple[str, ...]]:
    return [pending.names for pending in fold_queue(items, troubles or {}, NOW).pending]


def test_entries_of_one_session_fold_into_the_newest_whatever_their_order() -> None:
    items = [("b.json", session(at_ms=AT_MS + 2, event="SessionEnd")), ("a.json", session(event="Stop"))]
    for order in (items, items[::-1]):
        (pending,) = fold_queue(order, {}, NOW).pending
        assert pending.entry.context.event == "SessionEnd"
        assert (pending.name, pending.names) == ("b.json", ("a.json", "b.json"))


def test_a_fold_keeps_what_only_the_older_entry_knew() -> None:
    older = evolve(
        session(cwd="/p", branch="main", harness_version="2.1"),
        retrieval=SessionFile("claude-code-session", "s-1", "/t.jsonl"),
    )
    newer = session(at_ms=AT_MS + 1, event="SessionEnd")
    (pending,) = fold_queue([("a", older), ("b", newer)], {}, NOW).pending
    assert pending.entry.retrieval == SessionFile("claude-code-session", "s-1", "/t.jsonl")
    assert pending.entry.context == Context(cwd="/p", branch="main", event="SessionEnd", harness_version="2.1")


def test_a_fold_does_not_mix_the_branches_of_two_directories() -> None:
    older, newer = session(cwd="/p", branch="main", commit="0" * 40), session(at_ms=AT_MS + 1, cwd="/q")
    (pending,) = fold_queue([("a", older), ("b", newer)], {}, NOW).pending
    assert pending.entry.context == Context(cwd="/q")


def test_the_least_attempted_come_first_then_the_oldest() -> None:
    items = [(id, session(id, AT_MS + n)) for n, id in enumerate(["tried", "old", "new"])]
    troubles = {"claude-code-session tried": Trouble(attempts=1)}
    assert names_of(items, troubles) == [("old",), ("new",), ("tried",)]


def test_what_was_captured_as_it_happened_comes_before_past_sessions_and_those_to_look_at_again() -> None:
    items = [
        ("again.json", session("again", AT_MS - 9_000, event=UPGRADE_EVENT)),
        ("past-2.json", session("past-2", AT_MS - 4_000, event=BACKFILL_EVENT)),
        ("past-1.json", session("past-1", AT_MS - 8_000, event=BACKFILL_EVENT)),
        ("today.json", session("today", AT_MS, event="Stop")),
        ("noted.json", note(at_ms=AT_MS - 1)),
    ]
    assert [name for (name,) in names_of(items)] == [
        "noted.json", "today.json", "past-1.json", "past-2.json", "again.json",
    ]  # fmt: skip


def test_a_past_session_that_goes_on_today_is_one_of_todays() -> None:
    items = [
        ("past.json", session("s-1", AT_MS - 9_000, event=BACKFILL_EVENT)),
        ("other.json", session("s-2", AT_MS - 8_000, event=BACKFILL_EVENT)),
        ("today.json", session("s-1", AT_MS, event="Stop")),
    ]
    assert names_of(items) == [("past.json", "today.json"), ("other.json",)]


def test_a_session_to_look_at_again_stays_one_whatever_is_captured_meanwhile() -> None:
    items = [
        ("again.json", session("s-1", AT_MS - 9_000, event=UPGRADE_EVENT)),
        ("today.json", session("s-1", AT_MS, event="Stop", reason="end")),
    ]
    for order in (items, items[::-1]):
        (pending,) = fold_queue(order, {}, NOW).pending
        assert (pending.entry.context.event, pending.entry.context.reason) == (UPGRADE_EVENT, "end")


def test_the_backoff_leaves_entries_waiting() -> None:
    items = [(id, session(id)) for id in "abc"]
    trouble = Trouble(not_before_ms=NOW + 1, message="Not there yet.")
    queue = fold_queue(items, {"claude-code-session a": trouble}, NOW)
    assert ([pending.name for pending in queue.pending], queue.waiting) == (["b", "c"], 1)
    assert queue.reason == "Not there yet."


@given(st.lists(entries(), max_size=12))
@settings(max_examples=80)
def test_no_entry_is_lost_or_doubled(some: list[InboxEntry]) -> None:
    items = [(f"{number}.json", entry) for number, entry in enumerate(some)]
    whole = fold_queue(items, {}, NOW).pending
    assert sorted(name for pending in whole for name in pending.names) == sorted(name for name, _ in items)


# -- trouble


def test_three_faults_on_the_same_content_exhaust_an_entry() -> None:
    trouble = Trouble()
    seen = []
    for _ in range(3):
        trouble = after_fault(trouble, "hash", "reply-refused", "no envelope", NOW)
        seen.append(is_exhausted(trouble))
    assert seen == [False, False, True]
    assert (trouble.code, trouble.message) == ("reply-refused", "no envelope")
    assert not is_waiting(trouble, NOW)


def test_changed_content_starts_the_counts_afresh() -> None:
    twice = after_fault(after_fault(Trouble(), "a", "c", "m", NOW), "a", "c", "m", NOW)
    assert after_fault(twice, "b", "c", "m", NOW).attempts == 1
    assert after_timeout(after_timeout(Trouble(), "a", "c", "m", NOW), "b", "c", "m", NOW).timeouts == 1


def test_a_time_out_sets_back_longer_each_time_and_the_third_is_one_attempt() -> None:
    trouble = Trouble()
    backoffs = []
    for _ in range(3):
        trouble = after_timeout(trouble, "a", "agent-timed-out", "no reply", NOW)
        backoffs.append(trouble.not_before_ms - NOW)
    assert backoffs == [FIRST_BACKOFF_MS, 3 * FIRST_BACKOFF_MS, 9 * FIRST_BACKOFF_MS]
    assert (trouble.attempts, trouble.timeouts) == (1, 0)


def test_a_missing_history_costs_an_attempt_only_after_seven_days() -> None:
    trouble, now_ms, tries = Trouble(), NOW, 0
    while trouble.attempts == 0:
        trouble = after_unavailable(trouble, "history-unavailable", "not there", now_ms)
        tries += 1
        assert is_waiting(trouble, now_ms)
        assert not is_waiting(trouble, trouble.not_before_ms)
        now_ms = trouble.not_before_ms
    assert now_ms - NOW >= 7 * DAY_MS
    assert 20 < tries < 60


@pytest.mark.parametrize("jump_ms", [MAX_BACKOFF_MS + 1, 400 * DAY_MS])
def test_a_clock_set_back_keeps_no_entry_waiting_for_ever_p24(jump_ms: int) -> None:
    trouble = after_timeout(Trouble(), "a", "c", "m", NOW)
    assert is_waiting(trouble, NOW)
    assert not is_waiting(trouble, NOW - jump_ms)
    unavailable = after_unavailable(Trouble(), "c", "m", NOW)
    assert after_unavailable(unavailable, "c", "m", NOW - jump_ms).unavailable_since_ms == NOW - jump_ms
