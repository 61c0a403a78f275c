from __future__ import annotations

import pytest

from agent_memory.domain.found_session import Backfill, FoundSession, Sight, Sighted, limited, sentence_of, short_number
from agent_memory.domain.inbox_entry import AmpThread, InboxEntry
from agent_memory.domain.vocabulary import Harness


def sighted(number: int, sight: Sight, *, chars: int = 0, calls: int = 0, is_partial: bool = False) -> Sighted:
    thread = AmpThread(f"T-{number}")
    entry = InboxEntry(number, Harness.AMP, thread) if sight in ("new", "grown") else None
    return Sighted(FoundSession(Harness.AMP, thread, number), sight, entry, chars, calls, is_partial)


def test_it_says_what_it_would_cost_before_anything_is_spent() -> None:
    new = (sighted(n, "new", chars=40_000, calls=1) for n in range(31))
    done = (sighted(n, "done") for n in range(100, 281))
    assert sentence_of(Backfill((*new, *done)), 48) == (
        "212 sessions found, 31 new, about 1.2 M characters, 31 agent calls"
    )


def test_it_says_over_how_many_days() -> None:
    new = Backfill(tuple(sighted(n, "new", chars=10, calls=1) for n in range(97)))
    assert sentence_of(new, 48).endswith(", about 970 characters, 97 agent calls over 3 days at 48 a day")
    assert "days" not in sentence_of(new, 97)
    assert "days" not in sentence_of(new, 0)


def test_the_built_in_asks_nobody() -> None:
    assert "no agent call" in sentence_of(Backfill((sighted(1, "new", chars=10),)), 48)


def test_with_nothing_new_nothing_is_said_of_costs() -> None:
    assert sentence_of(Backfill((sighted(1, "done"),)), 48) == "1 session found, 0 new"
    assert sentence_of(Backfill(), 48) == "0 sessions found, 0 new"


def test_what_was_not_counted_to_its_end_is_said_to_be_the_least() -> None:
    large = sighted(1, "grown", chars=16_000_000, calls=99, is_partial=True)
    assert sentence_of(Backfill((large,)), 100) == (
        "1 session found, 0 new, 1 that went on, at least 16 M characters, 99 agent calls"
    )


def test_the_limit_takes_the_oldest_and_keeps_what_was_found() -> None:
    found = Backfill(tuple(sighted(n, "new", chars=10, calls=1) for n in range(5)))
    few = limited(found, 2)
    assert [each.found.session_id for each in few.wanted] == ["T-0", "T-1"]
    assert sentence_of(few, 48) == "5 sessions found, 5 new, 2 of them now, about 20 characters, 2 agent calls"
    assert limited(found, None) == found
    assert limited(found, 9) == found


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1_000, "1.0 k"), (12_345, "12 k"), (1_234_567, "1.2 M"), (5 * 10**9, "5.0 G")],
)
def test_large_numbers_are_short(number: int, shown: str) -> None:
    assert short_number(number) == shown
