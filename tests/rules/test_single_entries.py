"""Findings about one entry, or about how entries hang together: sizes, ages, links."""

from __future__ import annotations

import random
from typing import Any

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind, Origin, Sensitivity, StoredEntry, TierList, Usage
from agent_memory.rules.findings import FindingKind
from agent_memory.rules.shown import most_urgent_ids, note_chars
from agent_memory.text.instants import DAY_MS
from analysed_notes import FACTS, NOON_MS, found, kinds, note

LONG_AGO: dict[str, Any] = {"created_at_ms": NOON_MS - 200 * DAY_MS, "updated_at_ms": NOON_MS - 200 * DAY_MS}


class TestSizes:
    def test_blank_lines_count_nothing_and_code_counts_half(self) -> None:
        spaced = "\n\n".join(f"- word{n} here" for n in range(40))
        code = "Run this:\n\n```sh\n" + "\n".join(f"step {n}" for n in range(60)) + "\n```"
        assert found(note("Spaced", spaced), note("Code", code)).findings == ()
        longer = code.replace("```sh\n", "```sh\n" + "more\n" * 20)
        [finding] = found(note("Code", longer)).findings
        assert "are code, which counts half" in finding.reason


class TestAges:
    def test_what_nobody_read_or_changed_is_stale(self) -> None:
        stale = note("Old", "Still there.", tags=("topic__x",), **LONG_AGO)
        other = note("New", "Just written.", tags=("topic__x",))
        [finding] = found(stale, other).findings
        assert finding.kind is FindingKind.STALE
        assert "never read" in finding.reason
        assert "200 days, stale from 120 on" in finding.reason

    def test_a_clock_that_was_set_back_makes_nothing_old_p24(self) -> None:
        assert (
            found(note("From the future", "Here.", created_at_ms=NOON_MS * 9, updated_at_ms=NOON_MS * 9)).findings == ()
        )


class TestLinks:
    def test_a_link_to_an_id_that_nobody_has_is_dangling_p15(self) -> None:
        [finding] = found(note("Label", "See [[id__gone11]] and [[id__gone22|that]].")).findings
        assert finding.kind is FindingKind.DANGLING_LINK
        assert "2 links lead to no note: id__gone11, id__gone22" in finding.reason

    def test_live_ids_aliases_and_archived_ids_are_somewhere(self) -> None:
        target = note("Label", "Here.", id="id__targe1", aliases=("id__alias1",))
        source = note("Post", "See [[id__targe1]], [[id__ALias1]] and [[id__archi1]].")
        assert found(target, source, facts=evolve(FACTS, taken_ids=frozenset({"id__archi1"}))).findings == ()
        assert kinds(found(target, source)) == [FindingKind.DANGLING_LINK]

    def test_a_link_within_a_subject_needs_no_answer_since_it_is_shown_from_both_ends(self) -> None:
        target = note("Parcel label barcode", "The barcode is printed twice on the label.")
        source = note("Parcel label weight", f"The weight stands above the barcode, see [[{target.meta.id}]].")
        assert found(source, target).findings == ()

    def test_what_nothing_leads_to_is_an_orphan(self) -> None:
        alone = note("Alone", "Nobody knows.", tags=("topic__rare",), created_at_ms=NOON_MS - 40 * DAY_MS)
        [finding] = found(alone, note("Label", "Text.", tags=("topic__labels",))).findings
        assert finding.kind is FindingKind.ORPHAN
        assert "40 days" in finding.reason
        linking = note("Label", f"See [[{alone.meta.id}]].")
        assert found(alone, linking).findings == ()
        assert found(alone, note("Other", "Text.", tags=("topic__rare",))).findings == ()
        assert found(alone, facts=evolve(FACTS, usage={alone.meta.id: Usage(1, NOON_MS)})).findings == ()


# -- nothing is wrong with a store in order: every false finding is read by somebody -----------------------------------


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


def test_the_same_notes_and_one_that_is_wrong_have_one_finding() -> None:
    notes = [note(title, body, tags=("topic__parcels",)) for title, body in VARIED]
    wrong = note("Staging port", "The staging server listens on port 9090.", tags=("topic__parcels",))
    assert kinds(found(*notes, wrong)) == [FindingKind.CONTRADICTION]


# -- what holds for the analysis of any store --------------------------------------------------------------------------


IDS = tuple(f"id__bbbbb{n}" for n in range(1, 9))
SENTENCES = (
    "The staging server listens on port 8080.", "The staging server listens on port 9090.", "We use pnpm.",
    "We use yarn.", "Never deploy on Fridays.", "Deploy on Fridays.",
    "The nightly export writes one file for each customer into the bucket in Frankfurt.",
    "Usamos Redis para cache de sessões.", "Não usamos Redis para cache de sessões.",
    "Migrations live in `db/migrations`.", "See [[id__bbbbb1]] and [[id__bbbbb2|that]].", "See [[id__zzzzzz]].",
    "```\nport: 1\n```", "- item\n" * 45,
)  # fmt: skip
TITLES = ("Staging server port", "Package manager", "Deploys on Fridays", "Nightly export", "Cache de sessões", "x")


@st.composite
def stores(draw: st.DrawFn) -> list[StoredEntry]:
    """Stores of up to eight entries, most of which have something to do with each other."""
    count = draw(st.integers(0, len(IDS)))
    return [
        note(
            draw(st.sampled_from(TITLES)),
            "\n".join(draw(st.lists(st.sampled_from(SENTENCES), max_size=4))),
            id=id,
            scope=draw(st.sampled_from(["global", "github.com/dana/parcels", "github.com/dana/letters"])),
            kind=draw(st.sampled_from(Kind)),
            origin=draw(st.sampled_from(Origin)),
            sensitivity=draw(st.sampled_from(Sensitivity)),
            pinned=draw(st.booleans()),
            tags=draw(st.sampled_from([(), ("topic__x",), ("topic__x", "topic__y")])),
            updated_at_ms=NOON_MS - draw(st.sampled_from([0, 1, 90, 400])) * DAY_MS,
            created_at_ms=NOON_MS - 400 * DAY_MS,
            expires_at_ms=draw(st.sampled_from([None, NOON_MS - 1, NOON_MS + 1])),
        )
        for id in IDS[:count]
    ]


@settings(max_examples=80)
@given(stores(), st.randoms(use_true_random=False))
def test_the_order_of_the_entries_makes_no_difference(store: list[StoredEntry], chance: random.Random) -> None:
    shuffled = store.copy()
    chance.shuffle(shuffled)
    analysis = found(*store)
    assert found(*shuffled) == analysis
    assert list(analysis.body_chars) == sorted(each.meta.id for each in store)


@settings(max_examples=80)
@given(stores())
def test_findings_name_live_entries_once_worst_first(store: list[StoredEntry]) -> None:
    analysis = found(*store)
    live = {each.meta.id for each in store}
    for finding in analysis.findings:
        assert set(finding.ids) <= live
        assert len(set(finding.ids)) == len(finding.ids)
        assert 0 <= finding.score <= 1
        assert finding.reason
    order = [(list(FindingKind).index(each.kind), -each.score) for each in analysis.findings]
    assert order == sorted(order)


@settings(max_examples=60)
@given(stores())
def test_an_entry_that_has_nothing_to_do_with_the_others_changes_nothing(store: list[StoredEntry]) -> None:
    stranger = note("Umbrella", "Seven umbrellas hang beside Ottilie's door.", id="id__strang", pinned=True)
    before, after = found(*store), found(*store, stranger)
    assert after.findings == before.findings
    assert after.body_chars.keys() - before.body_chars.keys() == {"id__strang"}


@settings(max_examples=60)
@given(stores(), st.integers(0, 6_000))
def test_what_is_shown_fits_and_may_be_seen_p11(store: list[StoredEntry], max_chars: int) -> None:
    analysis = found(*store)
    listed = {each.meta.id: each.listed for each in store}
    tiers = TierList(hot=IDS[:2])
    shown = most_urgent_ids(analysis, tuple(listed.values()), max_chars, tiers)
    assert len(set(shown)) == len(shown)
    assert sum(note_chars(listed[id].meta, analysis.body_chars[id]) for id in shown) <= max_chars
    assert all(listed[id].meta.sensitivity is not Sensitivity.SECRET for id in shown)


HOSTILE = st.text(
    st.sampled_from("aé \n\t`~[]|#-*.:0189_/\\\"'\x00\x85\u202e\u200b\ud800\U000e0041😀no"), max_size=120
) | st.sampled_from(
    ["`" * 999, "[[" * 999, "1." * 999, "no " * 999, "- " * 999, "from 1 " * 200, "\ufeff", "９９ s", "²"]
)


@settings(max_examples=150)
@given(st.lists(st.tuples(HOSTILE, HOSTILE), max_size=4), st.integers(-(10**20), 10**20))
def test_hostile_text_and_instants_raise_nothing(texts: list[tuple[str, str]], at_ms: int) -> None:
    notes = [
        note(title, f"{body}\n{title}", updated_at_ms=at_ms, expires_at_ms=at_ms, tags=(title,))
        for title, body in texts
    ]
    assert len(found(*notes).body_chars) == len({each.meta.id for each in notes})
