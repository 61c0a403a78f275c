"""What contradicts what, in English and Portuguese, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from agent_memory.note.note import Kind, Origin, Sensitivity, StoredEntry
from agent_memory.rules.findings import Finding, FindingKind
from analysed_notes import NOON_MS, REPO, found, ids, note

Note = tuple[str, str]
"""Title and body."""

CONTRADICTING: tuple[tuple[Note, Note], ...] = (
    (("Staging server port", "The staging server listens on port 8080."), ("Staging port", "The staging server listens on port 9090 now.")),
    (("HTTP client timeout", "The timeout is 30 seconds."), ("Timeout of the HTTP client", "HTTP client timeout is 60s.")),
    (("Upload limit", "Uploads are limited to 10 MB."), ("Upload limit", "Uploads are limited to 25 MB since the new proxy.")),
    (("Package manager", "We use pnpm."), ("Package manager", "We use yarn for all installs.")),
    (("Package manager", "Use pnpm, not npm."), ("Installs", "Dependencies are managed with yarn.")),
    (("Indentation", "Indent with tabs."), ("Indentation of code", "Code is indented with 4 spaces.")),
    (("Deploys", "Never deploy on Fridays."), ("Deploys on Fridays", "We always deploy on Fridays.")),
    (("OAuth", "The API does not use OAuth tokens."), ("OAuth for the API", "The API uses OAuth tokens.")),
    (("End-to-end tests", "CI runs the end-to-end tests."), ("CI", "CI doesn't run the end-to-end tests.")),
    (("End-to-end tests", "CI runs the end-to-end tests."), ("CI", "CI no longer runs the end-to-end tests.")),
    (("Worker retries", "The payment worker retries failed requests."), ("Payment worker", "The payment worker does not retry failed requests.")),
    (("Python version", "The project targets Python 3.11."), ("Python", "The project targets Python 3.12.")),
    (("Node version", "The build needs Node 20."), ("Node", "The build needs Node 22.")),
    (("Migrations", "Migrations live in `db/migrations`."), ("Migrations directory", "Migrations live in `sql/migrate`.")),
    (("Staging address", "The staging URL is https://a.example.org/x."), ("Staging URL", "The staging URL is https://b.example.org.")),
    (("Sessions", "Sessions are stored in Redis."), ("Session store", "Sessions are stored in Postgres.")),
    (("Retries", "The client retries 3 times with a delay of 2 s."), ("Client retries", "The client retries 5 times with a delay of 2 s.")),
    (("Port of the gateway", "The gateway port was changed from 8080 to 9090."), ("Gateway", "The gateway port is 8080.")),
    (("Porta de staging", "O servidor de staging escuta na porta 8080."), ("Porta do staging", "O servidor de staging escuta na porta 9090.")),
    (("Cache", "Não usamos Redis para cache de sessões."), ("Cache de sessões", "Usamos Redis para cache de sessões.")),
    (("Deploy", "Nunca faça deploy na sexta-feira."), ("Deploy na sexta-feira", "Sempre faça deploy na sexta-feira.")),
    (("Limite de upload", "O limite de upload é 10 MB."), ("Upload", "O limite de upload é 25 MB.")),
    (("Gestor de pacotes", "Usamos pnpm."), ("Gestor de pacotes", "Usamos yarn.")),
)  # fmt: skip

AGREEING: tuple[tuple[Note, Note], ...] = (
    (("Production server port", "The production server listens on port 8080."), ("Staging port", "The staging server listens on port 9090.")),
    (("Production", "The server listens on port 80."), ("Staging", "The server listens on port 8080.")),
    (("Package manager", "We use pnpm, not yarn."), ("Package manager", "Use pnpm instead of npm.")),
    (("Package manager", "We moved from yarn to pnpm."), ("Package manager", "We use pnpm.")),
    (("Frontend", "The frontend uses pnpm."), ("Docs site", "The docs site uses yarn.")),
    (("npm is slow", "npm is slow on the build machine."), ("yarn is slow", "yarn is slow on the build machine.")),
    (("Build times", "On 2026-01-03 the build took 35 s."), ("Build time", "On 2026-02-03 the build took 55 s.")),
    (("Latency", "The p95 latency was 120 ms."), ("Latency", "The p95 latency was 90 ms.")),
    (("Worker 3", "Worker 3 handles mail."), ("Worker 4", "Worker 4 handles mail.")),
    (("Phase 1", "Phase 1 covers the parser."), ("Phase 2", "Phase 2 covers the parser.")),
    (("v3.1.0 release", "Release v3.1.0 has 29 tools."), ("v3.2.0 release", "Release v3.2.0 has 31 tools.")),
    (("Port of the gateway", "The gateway port was changed from 8080 to 9090."), ("Gateway", "The gateway port is 9090.")),
    (("Timeout", "The timeout is 30 s."), ("Timeout", "The timeout is 30,000 ms.")),
    (("Upload limit", "Uploads are limited to 1 MB."), ("Upload limit", "Uploads are limited to 1024 KB.")),
    (("Timeout in CI", "When it runs in CI the request timeout is 60 s."), ("Timeout", "The request timeout is 30 s.")),
    (("Ports", "The web server uses port 80. The web server uses port 443."), ("Web server", "The web server uses port 8443.")),
    (("Lock", "Do not run migrations without the lock."), ("Lock", "Run migrations with the lock.")),
    (("Retries", "If the request fails, retry it."), ("Retries", "If the request does not fail, retry it.")),
    (("Old port", "The gateway previously listened on port 8080."), ("Gateway", "The gateway listened on port 9090.")),
    (("Example", "For example, the gateway port is 8080."), ("Gateway", "The gateway port is 9090.")),
    (("`retry()`", "`retry()` waits 5 s between calls."), ("`poll()`", "`poll()` waits 9 s between calls.")),
    (("Cache no staging", "O cache no staging expira em 5 min."), ("Cache do staging", "O cache do staging expira em 5 min.")),
    (("Config", "```yaml\nport: 8080\n```"), ("Config", "```yaml\nport: 9090\n```")),
    (("Database", "Reports are kept in Postgres."), ("Cache", "Sessions are kept in Redis.")),
    (("Open?", "Should the gateway port be 8080?"), ("Gateway port", "The gateway port should be 9090.")),
    (("Issue 12", "Issue 12 is about the parser port."), ("Issue 13", "Issue 13 is about the parser port.")),
)  # fmt: skip


def contradictions(*pair: Note, **meta: Any) -> tuple[Finding, ...]:
    return found(*(note(*each, **meta) for each in pair)).of_kind(FindingKind.CONTRADICTION)


@pytest.mark.parametrize("pair", CONTRADICTING, ids=lambda pair: pair[1][1][:40])
def test_what_contradicts_is_found(pair: tuple[Note, Note]) -> None:
    [finding] = contradictions(*pair)
    assert len(finding.ids) == 2


@pytest.mark.parametrize("pair", AGREEING, ids=lambda pair: pair[0][1][:40])
def test_what_can_both_be_true_is_no_contradiction(pair: tuple[Note, Note]) -> None:
    assert contradictions(*pair) == ()


OLD = note("Staging server port", "The staging server listens on port 8080.")
NEW = note("Staging port", "The staging server listens on port 9090.")


def order(*notes: StoredEntry) -> tuple[str, ...]:
    [finding] = found(*notes).of_kind(FindingKind.CONTRADICTION)
    return finding.ids


def changed(stored: StoredEntry, **meta: Any) -> StoredEntry:
    return evolve(stored, listed=evolve(stored.listed, meta=evolve(stored.meta, **meta)))


def test_the_newer_one_comes_first_and_the_reason_quotes_both() -> None:
    assert order(OLD, NEW) == ids(NEW, OLD)
    [finding] = found(OLD, NEW).of_kind(FindingKind.CONTRADICTION)
    assert "port 8080" in finding.reason
    assert "port 9090" in finding.reason
    assert f"{NEW.meta.id} is newer" in finding.reason


def test_what_comes_from_outside_never_wins_by_being_newer() -> None:
    assert order(OLD, changed(NEW, origin=Origin.EXTERNAL)) == ids(OLD, NEW)


def test_what_a_person_pinned_or_promoted_comes_first() -> None:
    assert order(changed(OLD, pinned=True), NEW) == ids(OLD, NEW)
    assert order(changed(OLD, promoted_by="person"), NEW) == ids(OLD, NEW)


def test_a_successor_does_not_contradict_what_it_superseded() -> None:
    assert found(OLD, changed(NEW, supersedes=(OLD.meta.id,))).findings == ()


@pytest.mark.parametrize("over", [{"valid_until_ms": NOON_MS - 5}, {"expires_at_ms": NOON_MS - 5}])
def test_what_no_longer_holds_contradicts_nothing(over: dict[str, int]) -> None:
    analysis = found(changed(OLD, **over), NEW)
    assert analysis.of_kind(FindingKind.CONTRADICTION) == ()


def test_other_repositories_are_other_worlds() -> None:
    elsewhere = changed(NEW, scope="github.com/dana/letters")
    assert found(OLD, elsewhere).findings == ()


def test_a_global_fact_can_contradict_a_repositorys_and_a_global_rule_can_not() -> None:
    [finding] = found(OLD, changed(NEW, scope="global")).of_kind(FindingKind.CONTRADICTION)
    assert f"one is global, the other belongs to {REPO}" in finding.reason
    assert finding.score < 1
    rule = changed(NEW, scope="global", kind=Kind.CONVENTION)
    assert found(OLD, rule).of_kind(FindingKind.CONTRADICTION) == ()


def test_what_has_many_values_has_not_one_at_a_time() -> None:
    many = [note("Tenant limits", f"The tenant rate limit is {value}.") for value in (10, 20, 30, 40, 50)]
    assert found(*many[:2]).of_kind(FindingKind.CONTRADICTION)
    assert found(*many).of_kind(FindingKind.CONTRADICTION) == ()


def test_a_secret_entry_is_compared_and_not_quoted() -> None:
    [finding] = found(OLD, changed(NEW, sensitivity=Sensitivity.SECRET)).of_kind(FindingKind.CONTRADICTION)
    assert "9090" not in finding.reason
    assert "8080" in finding.reason


def test_a_reason_holds_no_token_p20() -> None:
    token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    pair = [note("Deploy port", f"With {token} the deploy port is {port}.") for port in (8080, 9090)]
    [finding] = found(*pair).of_kind(FindingKind.CONTRADICTION)
    assert token not in finding.reason
    assert "[redacted" in finding.reason
