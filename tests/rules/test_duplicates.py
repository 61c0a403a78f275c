"""Entries that say the same, nearly the same, or a part of each other."""

from __future__ import annotations

import math
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind, Origin, Sensitivity, StoredEntry
from agent_memory.recall.embedding import cosine, packed
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.rules.similarity import Subject, says_nothing_new, similar_among
from analysed_notes import NOON_MS, REPO, found, ids, kinds, note

TEXT = (
    "The nightly export writes one file per customer into the bucket. It starts after the invoices are closed, and a "
    "customer without invoices gets an empty file. The finance team imports these files by hand every morning."
)
REWORDED = (
    "It starts after the invoices are closed, and a customer without any invoices gets an empty file.\n\n"
    "The nightly export writes one file per customer into the bucket. Every morning the finance team loads the files by hand."
)
MORE = (
    "The bucket is in Frankfurt. Access to it is granted by the platform group, which answers within a day. Files older than "
    "ninety days are removed by a lifecycle rule, so an auditor asks for them early."
)


def test_equal_bodies_are_duplicates_whatever_their_links_and_white_space() -> None:
    first = note("Export", TEXT)
    second = note("Nightly export", TEXT.replace(". ", ".\n\n") + "\n\nSee also: [[id__aaaaaa]]\n")
    analysis = found(first, second)
    [finding] = analysis.of_kind(FindingKind.DUPLICATE)
    assert finding.ids == ids(second, first)
    assert "equal but for white space and links" in finding.reason
    assert FindingKind.NEAR_DUPLICATE not in kinds(analysis)


def test_of_two_scopes_only_the_global_copy_is_named_and_no_merge_proposed() -> None:
    here, everywhere = note("Export", TEXT), note("Export", TEXT, scope="global")
    [finding] = found(here, everywhere).of_kind(FindingKind.DUPLICATE)
    assert "cannot be merged" in finding.reason
    assert REPO in finding.reason
    assert found(here, note("Export", TEXT, scope="github.com/dana/letters")).of_kind(FindingKind.DUPLICATE) == ()


def test_reordered_and_slightly_reworded_text_is_a_near_duplicate_with_its_likeness() -> None:
    first, second = note("Nightly export", TEXT), note("The export at night", REWORDED)
    [finding] = found(first, second).of_kind(FindingKind.NEAR_DUPLICATE)
    assert finding.ids == ids(second, first)
    assert "% of the content words of title and body are in both" in finding.reason
    assert 0.75 <= finding.score < 1


def test_the_like_of_another_thing_is_no_near_duplicate() -> None:
    services = [
        note(
            f"The {name} service", f"The {name} service runs on port {port} behind the proxy and writes to its own log."
        )
        for name, port in (("invoice", 8001), ("order", 8002))
    ]
    assert found(*services).findings == ()


def test_a_note_that_another_one_holds_is_an_overlap() -> None:
    part, whole = note("Nightly export", TEXT), note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}")
    [finding] = found(part, whole).of_kind(FindingKind.OVERLAP)
    assert finding.ids == ids(whole, part)
    assert f"of {part.meta.id} are in {whole.meta.id} too" in finding.reason


def test_a_handoff_holds_what_the_notes_of_its_session_say_and_is_no_overlap() -> None:
    part = note("Nightly export", TEXT)
    assert kinds(found(part, note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}"))) == [FindingKind.OVERLAP]
    handoff = note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}", kind=Kind.HANDOFF)
    assert kinds(found(part, handoff)) == []


def test_what_contradicts_is_not_also_a_near_duplicate() -> None:
    old, new = (
        note("Port of the gateway", f"The gateway of the parcel tracker listens on port {port}.") for port in (80, 81)
    )
    assert kinds(found(old, new)) == [FindingKind.CONTRADICTION]


# -- what is about the same subject, and the nearness of vectors -------------------------------------------------------


LOCK = note(
    "Lock of the queue",
    "The queue's lock file holds PID@hostname and a time stamp. `acquireLock` writes it in one call, and a lock older than "
    "five minutes counts as stale and is taken over.",
)
BUILD = note(
    "Build order of the bundles",
    "esbuild makes three bundles one after the other: bin, mcp and cli. With Promise.all the cli was bundled before mcp "
    "existed, and the release was broken.",
)
VIEWER = note(
    "Zoom of the viewer",
    "The viewer zooms between 0.1 and 4. Three buttons: in by 1.5, out by 0.67, and back to the whole graph.",
)
SIZES = note(
    "Sizes of nodes in the viewer",
    "The radius of a node in the viewer's graph grows with its reads, from 4 to 12 pixels.",
)
KNOWN = (LOCK, BUILD, VIEWER, SIZES)


def similar(subject: Subject, *known: StoredEntry, cosine: float | None = None) -> tuple[StoredEntry, ...]:
    notes = known or KNOWN
    return similar_among(subject, notes, [cosine] * len(notes))


def test_the_same_in_other_words_and_another_order_is_found() -> None:
    again = Subject(
        "Bundling",
        "The three bundles of esbuild must be made one after the other, bin first, then mcp, then cli: Promise.all broke it.",
    )
    assert similar(again) == (BUILD,)


def test_another_matter_of_the_same_thing_is_not() -> None:
    for text in (
        "The viewer crashes in Safari when the graph has more than 2,000 nodes.",
        "esbuild gets --sourcemap when the cli is debugged.",
        "The queue is drained every two hours, by cron.",
        "Ask Ada before the viewer's colours are changed.",
    ):
        assert similar(Subject(text, text)) == ()


def test_near_in_meaning_with_half_of_the_words_is_the_same_subject() -> None:
    again = Subject(
        "Stale locks",
        "Whoever finds a lock with another hostname that is older than five minutes may remove it, says Ada.",
    )
    assert similar(again, LOCK, cosine=0.3) == ()
    assert similar(again, LOCK) == ()
    assert similar(again, LOCK, cosine=0.8) == (LOCK,)


def test_words_that_all_candidates_have_tell_nothing() -> None:
    form = "Release checklist of the payments service: tag, build, smoke test, announce. Version {} by {}."
    forms = [
        note(f"Release {name}", form.format(at, name)) for at, name in enumerate(("ada", "bob", "cy", "dan", "eve"))
    ]
    new = Subject("Release fay", form.format(9, "fay"))
    assert similar(new, forms[0]) == (forms[0],)
    assert similar(new, *forms) == ()


def test_a_part_of_a_known_note_is_about_the_same_but_not_a_few_words_of_a_long_one() -> None:
    part = Subject("Locks", "A lock older than five minutes counts as stale and is taken over.")
    assert similar(part) == (LOCK,)
    chapter = note("Handbook", " ".join(f"{LOCK.body} word{at} thing{at}" for at in range(60)))
    few = Subject("Lock", "The lock file holds a time stamp, and Ada reads it at night.")
    assert similar(few, chapter) == ()


def test_a_handoff_is_like_nothing() -> None:
    handoff = note("Handoff", BUILD.body, kind=Kind.HANDOFF)
    assert similar(Subject("Build", BUILD.body), handoff) == ()
    assert similar(Subject("Build", BUILD.body, kind=Kind.HANDOFF), BUILD) == ()
    assert similar(Subject("Build", BUILD.body), BUILD) == (BUILD,)


def test_what_is_said_already_is_nothing_new_and_a_new_number_or_negation_is() -> None:
    known = note("Port of the api", "The api of the staging cluster listens on port 8080 behind nginx.")
    assert says_nothing_new(Subject("api port", "The staging api listens on port 8080."), known)
    assert not says_nothing_new(Subject("api port", "The staging api listens on port 9090."), known)
    assert not says_nothing_new(Subject("api port", "The staging api never listens on port 8080."), known)
    assert not says_nothing_new(
        Subject("api port", "The staging api listens on port 8080 until the migration of March."), known
    )
    denied = note("Port of the api", "The api of the staging cluster never listens on port 8080 behind nginx.")
    assert not says_nothing_new(Subject("api port", "The staging api listens on port 8080."), denied)
    weekly = note("Release", "The release of the api goes out to the staging cluster on Tuesday afternoon.")
    assert says_nothing_new(Subject("Release", "The api release goes to the staging cluster on Tuesdays."), weekly)
    assert not says_nothing_new(Subject("Release", "The api release goes to the staging cluster on Thursday."), weekly)


components = st.lists(st.floats(-1e6, 1e6, width=32), min_size=4, max_size=4)


def exact_cosine(one: list[float], other: list[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths


@settings(max_examples=60)
@given(components, components)
def test_the_cosine_of_packed_vectors_is_nearly_that_of_the_vectors(one: list[float], other: list[float]) -> None:
    if any(one) and any(other):
        assert cosine(packed(one), packed(other)) == pytest.approx(exact_cosine(one, other), abs=0.03)


def test_zeros_and_numbers_that_are_none_are_near_to_nothing() -> None:
    for empty in ([], [0.0, 0.0], [math.inf, 1.0], [math.nan, 1.0]):
        assert packed(empty) == bytes(len(empty))
    assert cosine(packed([0.0, 0.0]), packed([1.0, 0.0])) == 0.0
    assert cosine(packed([1.0, 0.0]), packed([1.0, 0.0])) == 1.0


# -- what contradicts what, in English and Portuguese, and what only looks like it -------------------------------------


Note = tuple[str, str]
"""Title and body."""
CONTRADICTING: tuple[tuple[Note, Note], ...] = (
    (("Staging server port", "The staging server listens on port 8080."), ("Staging port", "The staging server listens on port 9090 now.")),
    (("Package manager", "We use pnpm."), ("Package manager", "We use yarn for all installs.")),
    (("Package manager", "Use pnpm, not npm."), ("Installs", "Dependencies are managed with yarn.")),
    (("Indentation", "Indent with tabs."), ("Indentation of code", "Code is indented with 4 spaces.")),
    (("Deploys", "Never deploy on Fridays."), ("Deploys on Fridays", "We always deploy on Fridays.")),
    (("OAuth", "The API does not use OAuth tokens."), ("OAuth for the API", "The API uses OAuth tokens.")),
    (("End-to-end tests", "CI runs the end-to-end tests."), ("CI", "CI doesn't run the end-to-end tests.")),
    (("Worker retries", "The payment worker retries failed requests."), ("Payment worker", "The payment worker does not retry failed requests.")),
    (("Python version", "The project targets Python 3.11."), ("Python", "The project targets Python 3.12.")),
    (("Migrations", "Migrations live in `db/migrations`."), ("Migrations directory", "Migrations live in `sql/migrate`.")),
    (("Sessions", "Sessions are stored in Redis."), ("Session store", "Sessions are stored in Postgres.")),
    (("Retries", "The client retries 3 times with a delay of 2 s."), ("Client retries", "The client retries 5 times with a delay of 2 s.")),
    (("Port of the gateway", "The gateway port was changed from 8080 to 9090."), ("Gateway", "The gateway port is 8080.")),
    (("Porta de staging", "O servidor de staging escuta na porta 8080."), ("Porta do staging", "O servidor de staging escuta na porta 9090.")),
    (("Cache", "Não usamos Redis para cache de sessões."), ("Cache de sessões", "Usamos Redis para cache de sessões.")),
    (("Deploy", "Nunca faça deploy na sexta-feira."), ("Deploy na sexta-feira", "Sempre faça deploy na sexta-feira.")),
    (("Deploys on Tuesdays only", "Deploys on Tuesdays only."), ("Deploys on Thursdays only", "Deploys on Thursdays only.")),
    (("Deploys", "Deploy apenas às terças."), ("Deploys", "Deploy apenas às quintas.")),
)  # fmt: skip
AGREEING: tuple[tuple[Note, Note], ...] = (
    (("Production server port", "The production server listens on port 8080."), ("Staging port", "The staging server listens on port 9090.")),
    (("Package manager", "We use pnpm, not yarn."), ("Package manager", "Use pnpm instead of npm.")),
    (("Package manager", "We moved from yarn to pnpm."), ("Package manager", "We use pnpm.")),
    (("npm is slow", "npm is slow on the build machine."), ("yarn is slow", "yarn is slow on the build machine.")),
    (("Build times", "On 2026-01-03 the build took 35 s."), ("Build time", "On 2026-02-03 the build took 55 s.")),
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
    (("Standup", "The standup of the team is on Mondays."), ("Standup", "The standup of the team is on Thursdays.")),
    (("Database", "Reports are kept in Postgres."), ("Cache", "Sessions are kept in Redis.")),
    (("Open?", "Should the gateway port be 8080?"), ("Gateway port", "The gateway port should be 9090.")),
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


def test_what_comes_from_outside_never_wins_by_being_newer() -> None:
    assert order(OLD, changed(NEW, origin=Origin.EXTERNAL)) == ids(OLD, NEW)


def test_what_a_person_pinned_or_promoted_comes_first() -> None:
    assert order(changed(OLD, promoted_by="person"), NEW) == ids(OLD, NEW)
    assert order(changed(OLD, pinned=True), NEW) == ids(NEW, OLD), "`memory pin` vouches too; a file may say anything"


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
