"""Nothing is wrong with a store in order: every false finding is read by somebody."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attrs import evolve

from agent_memory.agent.agent_command import BuiltinAgent
from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.transcripts import TranscriptRoots
from agent_memory.note.note import Harness, Kind, StoredEntry
from agent_memory.rules.agent_request import SessionRequest
from agent_memory.rules.findings import FindingKind
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry, SessionFile
from analysed_notes import FACTS, NOON_MS, found, kinds, note

AT_ODDS = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)

VARIED = (
    ("Staging server port", "The staging server listens on port 8080; the proxy in front of it adds TLS."),
    ("Production server port", "The production server listens on port 443. Port 80 only redirects."),
    ("Package manager of the frontend", "The frontend uses pnpm 9. Other package managers break the lockfile."),
    ("Docs are built with yarn", "The documentation site is older and still uses yarn. It is built nightly."),
    ("Python version", "The backend targets Python 3.12 because the data science image has no newer one."),
    ("Money is kept in cents", "Totals are integer cents. Floats lost one cent on 3 invoices in January 2026."),
    ("Flaky parcel test", "`test_parcel_route` fails when the clock passes midnight UTC. Freeze time in it."),
    ("Deploys", "Deploy with `make deploy` after CI is green. Never deploy on Fridays."),
    (
        "Rollbacks",
        "Roll back with `make rollback VERSION=…`. A rollback takes 4 minutes and does not touch the database.",
    ),
    ("Database migrations", "Migrations live in `db/migrations` and run before the new version starts."),
    ("Review rules", "Every change to `billing/` needs two reviewers; elsewhere one reviewer is enough."),
    ("API errors", "The API answers 422 for invalid input and 409 for a conflict; 500 is always a bug."),
    ("Retry of the payment worker", "The payment worker retries 5 times with a key, so that no card is charged twice."),
    ("Retry of the mail worker", "The mail worker retries 3 times. Mail without a receipt is not sent again."),
    ("Cache", "Sessions are cached in Redis for 30 minutes."),
    ("Search index", "The search index is rebuilt every night at 02:00 and takes 20 minutes."),
    ("Time zones", "All times are stored in UTC. The shop shows local time."),
    ("Padrão de commits", "Mensagens de commit em inglês, no imperativo, com no máximo 72 caracteres no título."),
    ("Ambiente de testes", "O banco de testes roda no Docker. Não use o banco de staging nos testes."),
    ("Logs", "Logs are JSON, one object a line; personal data never goes into them. Levels: info, warn, error."),
    ("Feature flags", "A flag lives for at most 90 days. `flags.toml` says who owns it."),
    ("Release 1.4", "Release 1.4 brought labels in two languages and 12 fixes."),
    ("Release 1.5", "Release 1.5 brought customs forms and 9 fixes."),
)


def test_varied_notes_have_no_findings() -> None:
    notes = [note(title, body, tags=("topic__parcels",)) for title, body in VARIED]
    assert found(*notes).findings == ()


def test_the_same_notes_and_one_that_is_wrong_have_one_finding() -> None:
    notes = [note(title, body, tags=("topic__parcels",)) for title, body in VARIED]
    wrong = note("Staging port", "The staging server listens on port 9090.", tags=("topic__parcels",))
    assert kinds(found(*notes, wrong)) == [FindingKind.CONTRADICTION]


@pytest.mark.shared
def test_what_the_built_in_keeps_of_real_sessions_is_at_odds_with_nothing(shared: Path) -> None:
    notes = [each for path in sorted((shared / "fixtures/claude-code").glob("*.jsonl")) for each in kept(path)]
    assert len(notes) >= 5
    assert not {each.kind for each in found(*notes).findings}.intersection(AT_ODDS)
    of_one_scope = [evolve(each, listed=evolve(each.listed, meta=evolve(each.meta, scope="global"))) for each in notes]
    assert not {each.kind for each in found(*of_one_scope).findings}.intersection(AT_ODDS)


@pytest.mark.shared
def test_187_notes_that_people_kept_do_not_contradict_each_other(shared: Path) -> None:
    lines = (shared / "data/toon-retrieval-corpus.toon").read_text("utf-8").split("\n")
    rows = [line.strip().split("|") for line in lines if line.count("|") >= 8 and not line.startswith("[")]
    notes = [note(row[2].replace("-", " "), row[3], scope="global") for row in rows]
    assert len(notes) > 150
    analysis = found(*notes, facts=evolve(FACTS, now_ms=NOON_MS))
    assert not {each.kind for each in analysis.findings}.intersection(AT_ODDS)


def kept(path: Path) -> list[StoredEntry]:
    """What the built-in agent keeps of a session, as notes of its directory."""
    named = re.search(r'"sessionId":\s*"([^"]+)"', path.read_text("utf-8", "replace"))
    session = named[1] if named else path.stem
    entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", session, str(path)))
    fetched = ClaudeCodeSessions(TranscriptRoots(roots=(str(path.parent),))).fetch(entry, None)
    history = fetched.value_or(History(Harness.CLAUDE_CODE, session, ()))
    request = SessionRequest("", "a nonce", entry, history, now_ms=2 * (history.ended_at_ms or 0))
    proposed = json.loads(BuiltinAgent().answer(request).unwrap().text)["entries"]
    return [
        note(each["title"], each["body"], kind=Kind(each["kind"]), tags=tuple(each["tags"]), scope=history.cwd or "?")
        for each in proposed
    ]
