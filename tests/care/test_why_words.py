"""What is known of a note or a session, in words."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from attrs import evolve

from agent_memory.care.why_note import HistoryEvent, events_of, said_by, source_in_words, why_in_tier
from agent_memory.care.why_session import FoundCapture, SessionState, SessionTrace, trace_session
from agent_memory.note.note import Harness, Kind, Origin, Sensitivity, Source, Tier
from agent_memory.rules.run_log import LoggedAction, LoggedRun
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import Outcome, Trouble, Verdict
from defrag_requests import DAY_MS, NOW_MS, stored
from inbox_entries import session


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"origin": Origin.USER}, "You said it in a session."),
        ({"origin": Origin.USER, "sources": ()}, "You wrote it."),
        ({"origin": Origin.USER, "sources": (Source(Harness.MANUAL),)}, "You wrote it."),
        ({"origin": Origin.AGENT}, "An agent concluded it; no message of yours says it."),
        ({"origin": Origin.EXTERNAL, "promoted_by": "person"}, "You vouched for it."),
    ],
)
def test_it_says_who_said_it(fields: dict[str, object], words: str) -> None:
    assert said_by(stored("We use tabs", **fields).meta).endswith(words)  # type: ignore[arg-type]


def test_only_a_persons_promotion_counts_p19() -> None:
    meta = stored("We use tabs", origin=Origin.EXTERNAL, promoted_by="claude").meta
    assert said_by(meta).startswith("It comes from outside")
    assert "vouched" not in said_by(meta)


def test_a_source_names_session_turns_place_and_agent() -> None:
    source = Source(Harness.AMP, "T-1", "github.com/acme/shop", "/srv/shop", "opus", (3, 9, 12))
    assert source_in_words(source) == (
        "amp session T-1, turns 3, 9 and 12, in /srv/shop (github.com/acme/shop), by opus"
    )
    assert source_in_words(Source(Harness.MANUAL)) == "no session, written directly"


def test_hostile_text_stays_on_its_line_p18() -> None:
    words = source_in_words(Source(Harness.AMP, "T-1\n\x1b[2J", cwd="/srv/\u202eshop"))
    assert words.isprintable()


RUN = "2026-02-13T14-30-05.123Z_4dbfbe"
LATER = "2026-02-14T14-30-05.123Z_5ecafe"


def event(
    kind: str, words: str = "", new_ids: tuple[str, ...] = ("id__cccccc",), undone_by: str | None = None
) -> HistoryEvent:
    return HistoryEvent(1, RUN, "defrag", kind, ("id__aaaaaa", "id__bbbbbb"), new_ids, words, undone_by)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (event("merge", "the same twice"), "merged by defrag 4dbfbe: the same twice"),
        (event("merge"), "merged by defrag 4dbfbe: id__aaaaaa, id__bbbbbb into id__cccccc"),
        (event("replace", new_ids=()), "changed by defrag 4dbfbe"),
        (event("create", "Ports", undone_by=LATER), "written by defrag 4dbfbe: Ports (undone by 5ecafe)"),
        (event("polish", "it shines"), "polish by defrag 4dbfbe: it shines"),
    ],
)
def test_what_was_done_by_which_run_and_why(one: HistoryEvent, words: str) -> None:
    assert one.sentence == words


def test_only_what_concerns_the_entry_in_the_order_in_which_it_happened() -> None:
    first = LoggedAction("create", (), ("id__aaaaaa",), "one")
    second = LoggedAction("replace", ("id__aaaaaa",), (), "two")
    other = LoggedAction("create", (), ("id__zzzzzz",), "other")
    runs = (
        LoggedRun(LATER, "defrag", 2, 2, "completed", "", (LoggedAction("archive", ("id__aaaaaa",), (), "three"),)),
        LoggedRun(RUN, "consolidate", 1, 1, "completed", "", (first, other, second)),
    )
    assert [each.words for each in events_of(frozenset({"id__aaaaaa"}), runs)] == ["one", "two", "three"]
    assert events_of(frozenset({"id__bbbbbb"}), runs) == ()


def why(tier: Tier = Tier.COLD, *, seen: dict[str, Any] | None = None, **fields: Any) -> str:
    meta = stored("We use tabs", kind=Kind.DECISION, **fields).meta
    return why_in_tier(meta, tier, NOW_MS, **(seen or {}))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (why(Tier.HOT, pinned=True, promoted_by="person"), "You pinned it"),
        (why(Tier.HOT, promoted_by="person"), "You vouched for it"),
        (why(Tier.HOT), "Defrag chose it"),
        (why(Tier.HOT, origin=Origin.EXTERNAL), "The next defrag takes it out: only a tool"),
        (why(expires_at_ms=NOW_MS - DAY_MS), "It expired on 2026-02-12; the next defrag archives it."),
        (why(sensitivity=Sensitivity.SECRET), "No agent sees it unasked: it is secret."),
        (why(origin=Origin.EXTERNAL), "No agent sees it unasked: only a tool"),
        (why(Tier.WARM, origin=Origin.AGENT), "It can be warm at most: an agent concluded it"),
        (why(seen={"is_decided": False}), "No defrag has decided yet"),
        (why(seen={"is_seen": False}), "It was written after the last defrag"),
        (why(valid_until_ms=NOW_MS - DAY_MS), "It stopped being true on 2026-02-12."),
        (why(), "It could be hot, but others rank before it. `memory pin`"),
    ],
)
def test_the_reason_is_the_one_that_holds(reason: str, words: str) -> None:
    assert reason.startswith(words)


MARK = SessionMark(Harness.CLAUDE_CODE, "s-1", "r9", NOW_MS, 42, True, "builtin")


def capture(place: Any = "waiting", at_ms: int = NOW_MS, cwd: str | None = None, **fields: Any) -> FoundCapture:
    return FoundCapture(session("s-1", at_ms, **({"cwd": cwd} if cwd else {})), place, f"{at_ms}.json", **fields)


def processed(at_ms: int = NOW_MS, verdict: Any = "written", place: Any = "processed", **fields: Any) -> FoundCapture:
    one = capture(place, at_ms)
    return evolve(one, entry=evolve(one.entry, outcome=Outcome(verdict, RUN, at_ms, **fields)))


def trace(*captures: FoundCapture, notes: Any = (), **fields: Any) -> SessionTrace:
    return trace_session(("claude-code", "s-1"), captures, (), notes, **fields)


NOTE = stored("We use tabs", sources=(Source(Harness.CLAUDE_CODE, "s-1"),)).listed


@pytest.mark.parametrize(
    ("one", "state", "words"),
    [
        (trace(), "never-captured", "Nothing is known about it"),
        (trace(notes=(NOTE,)), "never-captured", "No capture of it has arrived, though"),
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
    assert one.words[0].startswith(words)


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_outcome_has_words_with_its_reason_and_its_run(verdict: str) -> None:
    (_, captured, told) = trace(processed(verdict=verdict, reason="the port is closed.")).words
    assert captured.startswith("It was captured on 2026-02-13")
    assert told.endswith(": the port is closed (run 4dbfbe)")


def test_trouble_tells_attempts_and_when_it_is_tried_again() -> None:
    trouble = Trouble(attempts=2, timeouts=1, not_before_ms=NOW_MS, message="It gave no reply.")
    assert trace(capture(trouble=trouble)).words[-1] == (
        "Memory will retry it (2 of 3 attempts used up, 1 time-out in a row, not before 2026-02-13 16:26 UTC): "
        "It gave no reply."
    )


def test_what_waits_for_the_next_run_is_named() -> None:
    assert trace(deferred=("id__aaaaaa",)).words[-1].startswith("What it changes of id__aaaaaa waits for the next run")
