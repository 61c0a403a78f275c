"""P20: what an inbox entry says of a place, without the secrets in its names."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.queue import Context, InboxEntry, SessionFile, as_captured, as_consumed
from agent_memory.domain.vocabulary import Harness
from fixtures.secret_samples import base62

TOKEN = f"EAAA{base62(60)}"
MARK = "[redacted:square-token]"

PLAIN = InboxEntry(
    at_ms=1,
    harness=Harness.CODEX,
    retrieval=SessionFile("codex-session", "s1", "/home/ana/.codex/sessions/2026/02/13/rollout-s1.jsonl"),
    context=Context("/srv/harbour", "path:/srv/harbour/.git", "fix/lamp", "a" * 40, "Stop"),
)
SECRET = evolve(
    PLAIN,
    retrieval=SessionFile("codex-session", "s1", f"/srv/{TOKEN}/s1.jsonl"),
    context=Context(f"/srv/{TOKEN}/x", f"path:/srv/{TOKEN}/x/.git", f"fix/{TOKEN}", "a" * 40, "Stop"),
)


def test_an_entry_without_secrets_stays_as_it_is() -> None:
    assert as_captured(PLAIN) == PLAIN
    assert as_consumed(PLAIN) == PLAIN


def test_what_finds_the_session_waits_as_it_is_and_the_branch_does_not() -> None:
    waiting = as_captured(SECRET)
    assert waiting.context == evolve(SECRET.context, branch=f"fix/{MARK}")
    assert waiting.retrieval == SECRET.retrieval


def test_p20_once_it_is_consumed_nothing_of_it_holds_a_secret() -> None:
    consumed = as_consumed(SECRET)
    assert consumed.context == Context(f"/srv/{MARK}/x", f"path:/srv/{MARK}/x/.git", f"fix/{MARK}", "a" * 40, "Stop")
    assert consumed.retrieval == SessionFile("codex-session", "s1")
    assert as_consumed(consumed) == consumed


def test_a_session_that_is_found_by_its_id_alone_keeps_it() -> None:
    entry = evolve(SECRET, harness=Harness.OPENCODE, retrieval=SessionFile("opencode-session", "ses_1"))
    assert as_consumed(entry).retrieval == SessionFile("opencode-session", "ses_1")
