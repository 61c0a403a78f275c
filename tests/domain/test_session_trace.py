"""What became of a session, in sentences."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from attrs import evolve

from agent_memory.domain.explaining import (
    Capture,
    SeenByRun,
    SessionState,
    SessionTrace,
    facts_in_words,
    state_in_words,
)
from agent_memory.domain.history import SessionMark
from agent_memory.domain.queue import Outcome, Trouble, Verdict
from agent_memory.domain.vocabulary import Harness
from defrag_requests import NOW_MS, stored
from inbox_entries import session

RUN = "2026-02-13T14-30-05.123Z_4dbfbe"
MARK = SessionMark(Harness.CLAUDE_CODE, "s-1", "r9", NOW_MS, 42, True, "builtin")


def capture(place: Any = "waiting", at_ms: int = NOW_MS, cwd: str | None = None, **fields: Any) -> Capture:
    return Capture(session("s-1", at_ms, **({"cwd": cwd} if cwd else {})), place, f"{at_ms}.json", **fields)


def processed(at_ms: int = NOW_MS, verdict: Any = "written", place: Any = "processed", **fields: Any) -> Capture:
    one = capture(place, at_ms)
    return evolve(one, entry=evolve(one.entry, outcome=Outcome(verdict, RUN, at_ms, **fields)))


def trace(*captures: Capture, **fields: Any) -> SessionTrace:
    return SessionTrace("claude-code", "s-1", captures=captures, **fields)


@pytest.mark.parametrize(
    ("one", "state", "words"),
    [
        (trace(), "never-captured", "Nothing is known of it"),
        (trace(entries=(stored("We use tabs").listed,)), "never-captured", "No capture of it has arrived, though"),
        (trace(capture()), "pending", "It waits in the inbox"),
        (trace(capture(), processed(NOW_MS - 1), mark=MARK), "pending", "It waits in the inbox"),
        (trace(processed()), "processed", "It has been read."),
        (trace(mark=MARK), "processed", "It has been read."),
        (trace(processed(verdict="gave-up", place="given-up")), "failed", "It was given up"),
        (trace(processed(), processed(NOW_MS - 1, "gave-up", "given-up")), "processed", "It has been read."),
    ],
)
def test_where_it_stands(one: SessionTrace, state: SessionState, words: str) -> None:
    assert one.state == state
    assert state_in_words(one).startswith(words)


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_outcome_has_words_with_its_reason_and_its_run(verdict: str) -> None:
    (captured, told) = facts_in_words(trace(processed(verdict=verdict, reason="the port is closed.")))
    assert captured.startswith("It was captured on 2026-02-13")
    assert told.endswith(": the port is closed (run 4dbfbe)")


def test_a_session_that_grew_tells_what_was_read_and_that_more_waits() -> None:
    one = trace(capture(), processed(NOW_MS - 60_000, reason="2 notes"), mark=MARK)
    assert "has grown since" in state_in_words(one)
    assert facts_in_words(one)[0].startswith("It was captured 2 times, first on 2026-02-13 16:25 UTC")
    assert "It has been read up to turn 42" in facts_in_words(one)[-1]


def test_trouble_tells_attempts_and_when_it_is_tried_again() -> None:
    trouble = Trouble(attempts=2, timeouts=1, not_before_ms=NOW_MS, message="It gave no reply.")
    told = facts_in_words(trace(capture(trouble=trouble)))[-1]
    assert told == (
        "It was set back (2 of 3 attempts used up, 1 time-out in a row, not tried again before 2026-02-13 16:26 UTC): "
        "It gave no reply."
    )


def test_runs_tell_where_the_inbox_no_longer_does() -> None:
    one = trace(runs=(SeenByRun(RUN, NOW_MS, "consolidate", "skipped", "idle talk", (), ("x",)),))
    assert one.state == "processed"
    assert facts_in_words(one) == ("2026-02-13 16:26 UTC: nothing of it was kept: idle talk (run 4dbfbe)",)
    assert one.dropped == ("x",)


def test_what_was_left_out_is_told_once() -> None:
    one = trace(processed(dropped=("a: too long", "b: no body")), processed(NOW_MS - 1, dropped=("a: too long",)))
    assert one.dropped == ("a: too long", "b: no body")


def test_what_waits_for_the_next_run_is_named() -> None:
    assert "id__aaaaaa waits for the next run" in facts_in_words(trace(processed(), deferred=("id__aaaaaa",)))[-1]


def test_it_took_place_where_its_captures_or_its_notes_say() -> None:
    assert trace(capture(cwd="/srv/shop")).cwd == "/srv/shop"
    assert trace(capture()).cwd is None
