"""What a session was given."""

from __future__ import annotations

import json

from agent_memory.domain.health import WEEK_MS, HarnessDeliveries, deliveries_by_harness
from agent_memory.domain.injecting.moment import (
    RECOVERY_MS,
    SAME_MOMENT_MS,
    Delivery,
    delivery_of,
    known_ids,
    last_other_session,
)

NOW = 2_000_000_000_000
MINUTE = 60_000


def given(at_ms: int, event: str = "prompt", *ids: str, session: str = "s-1", harness: str = "codex") -> Delivery:
    return Delivery(at_ms, harness, session, event, ids, 10 * len(ids), "global")


class TestKnown:
    def test_all_that_the_session_was_given_and_no_other(self) -> None:
        log = [given(1, "start", "a"), given(2, "prompt", "b"), given(3, "prompt", "c", session="s-2")]
        assert known_ids(log, "codex", "s-1", NOW) == {"a", "b"}
        assert known_ids(log, "claude-code", "s-1", NOW) == frozenset()

    def test_a_compaction_takes_away_what_was_there(self) -> None:
        log = [given(1, "start", "a"), given(10 * MINUTE, "compact", "b"), given(11 * MINUTE, "prompt", "c")]
        assert known_ids(log, "codex", "s-1", NOW) == {"b", "c"}
        assert known_ids(log, "codex", "s-1", NOW, is_fresh=True) == frozenset()

    def test_two_hooks_told_of_one_compaction_do_not_both_deliver(self) -> None:
        log = [given(1, "start", "a"), given(NOW - 500, "compact", "a", "b")]
        assert known_ids(log, "codex", "s-1", NOW, is_fresh=True) == {"a", "b"}
        again = [*log, given(NOW, "compact")]
        assert known_ids(again, "codex", "s-1", NOW + MINUTE) == {"a", "b"}
        assert known_ids(again, "codex", "s-1", NOW + SAME_MOMENT_MS + 1, is_fresh=True) == frozenset()


class TestLines:
    def test_a_line_is_read_back(self) -> None:
        line = given(7, "start", "a", "b")
        again = delivery_of(json.loads(json.dumps(line.members)))
        assert again is not None
        assert again.members == line.members

    def test_what_is_no_line_is_none(self) -> None:
        good = given(7, "start", "a").members
        assert delivery_of(good | {"ids": ["a"]}) is not None
        wrongs: tuple[object, ...] = (
            None,
            [],
            {},
            good | {"at_ms": "7"},
            good | {"ids": "a"},
            good | {"session": None},
        )
        for wrong in wrongs:
            assert delivery_of(wrong) is None


def test_the_last_other_session_of_the_place_if_it_is_recent() -> None:
    log = [given(NOW - 5), given(NOW - 4, session="s-2"), given(NOW - 3, session="s-3"), given(NOW - 1)]
    last = last_other_session(log, "global", "s-1", NOW)
    assert last is not None
    assert last.session == "s-3"
    assert last_other_session(log, "elsewhere", "s-1", NOW) is None
    assert last_other_session(log, "global", "s-1", NOW + RECOVERY_MS) is None


def test_the_report_counts_deliveries_with_notes_by_harness() -> None:
    log = [
        given(NOW - WEEK_MS, "start", "a"),
        given(NOW - 3, "start", "a", "b"),
        given(NOW - 2),
        given(NOW - 1, "start", "a", harness="amp"),
    ]
    assert deliveries_by_harness(log, NOW) == (
        HarnessDeliveries("amp", 1, 10, NOW - 1),
        HarnessDeliveries("codex", 1, 20, NOW - 3),
    )
