"""The demo's session: what `make demo` shows of it is what a person would keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.extraction.extract import extracted
from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.transcripts import TranscriptRoots
from agent_memory.note.note import Harness, Importance, Kind
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry, SessionFile
from agent_memory.text.instants import DAY_MS
from conversations import MUCH_LATER_MS

SESSION = Path(__file__).parents[2] / "docs" / "demo" / "session.jsonl"
SESSION_ID = "b19c5100-4b94-45e6-bd8c-ad7d7f3c7591"


@pytest.fixture(scope="module")
def sample() -> History:
    entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", SESSION_ID, str(SESSION)))
    fetched = ClaudeCodeSessions(TranscriptRoots(roots=(str(SESSION.parent),))).fetch(entry, None)
    assert isinstance(fetched, Success)
    history: History = fetched.unwrap()
    return history


def test_its_notes_are_those_that_a_person_would_keep(sample: History) -> None:
    notes = extracted(sample, now_ms=MUCH_LATER_MS).entries
    assert [(note.kind, note.title) for note in notes] == [
        (Kind.DECISION, "Key by the harbour's own date: `cache_key()` asks the harbour for its local day"),
        (Kind.DECISION, "Use zoneinfo instead of pytz, we dropped pytz last year"),
        (Kind.LESSON, "The test failed at first because the `python:3.12-slim` image has no time zone database"),
        (Kind.FACT, "The upstream tide API allows 500 requests a day, and staging shares that quota with production"),
        (
            Kind.TASK,
            "The e-mail alerts in `alerts/daily.py` build their own key with `date.today()` and need the same change",
        ),
    ]


def test_the_decision_tells_its_reason_and_the_alternatives(sample: History) -> None:
    decision = extracted(sample, now_ms=MUCH_LATER_MS).entries[0]
    assert "a short lifetime would cost us money" in decision.body
    assert "Chosen among: Key by the harbour's own date; Short lifetime; No cache" in decision.body


def test_what_was_asked_to_be_remembered_matters_most(sample: History) -> None:
    notes = extracted(sample, now_ms=MUCH_LATER_MS).entries
    assert [note.title for note in notes if note.importance is Importance.HIGH] == [notes[3].title]


def test_it_has_a_handoff_for_a_week(sample: History) -> None:
    assert sample.ended_at_ms is not None
    handoff = extracted(sample, now_ms=sample.ended_at_ms + 6 * DAY_MS).entries[-1]
    assert handoff.kind is Kind.HANDOFF
    assert "- The e-mail alerts in `alerts/daily.py`" in handoff.body
    assert "- `tidetable/forecast_cache.py`" in handoff.body
    late = extracted(sample, now_ms=sample.ended_at_ms + 8 * DAY_MS).entries
    assert Kind.HANDOFF not in [note.kind for note in late]
