"""What is known of a note or a session, in words."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory.care.why_note import said_by, source_in_words, why_in_tier
from agent_memory.care.why_session import FoundCapture, SessionTrace, trace_session
from agent_memory.note.note import Harness, Kind, Origin, Sensitivity, Source, Tier
from agent_memory.session.queue import Trouble
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


def capture(place: Any = "waiting", at_ms: int = NOW_MS, cwd: str | None = None, **fields: Any) -> FoundCapture:
    return FoundCapture(session("s-1", at_ms, **({"cwd": cwd} if cwd else {})), place, f"{at_ms}.json", **fields)


def trace(*captures: FoundCapture, notes: Any = (), **fields: Any) -> SessionTrace:
    return trace_session(("claude-code", "s-1"), captures, (), notes, **fields)


def test_trouble_tells_attempts_and_when_it_is_tried_again() -> None:
    trouble = Trouble(attempts=2, timeouts=1, not_before_ms=NOW_MS, message="It gave no reply.")
    assert trace(capture(trouble=trouble)).words[-1] == (
        "Memory will retry it (2 of 3 attempts used up, 1 time-out in a row, not before 2026-02-13 16:26 UTC): "
        "It gave no reply."
    )
