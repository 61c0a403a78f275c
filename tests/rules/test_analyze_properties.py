"""What holds for the analysis of any store."""

from __future__ import annotations

import random

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind, Origin, Sensitivity, StoredEntry, TierList
from agent_memory.rules.findings import Finding, FindingKind
from agent_memory.rules.shown import most_urgent_ids, note_chars
from agent_memory.text.instants import DAY_MS
from analysed_notes import FACTS, NOON_MS, found, note

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
@given(stores(), st.sets(st.sampled_from(IDS)))
def test_findings_name_live_entries_once_worst_first(store: list[StoredEntry], left_alone: set[str]) -> None:
    analysis = found(*store, facts=evolve(FACTS, left_alone=frozenset(left_alone)))
    live = {each.meta.id for each in store}
    for finding in analysis.findings:
        assert set(finding.ids) <= live
        assert len(set(finding.ids)) == len(finding.ids)
        assert 0 <= finding.score <= 1
        assert finding.reason
        if finding.kind not in (FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK):
            assert left_alone.isdisjoint(finding.ids)
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


def test_of_two_files_with_one_id_the_first_counts() -> None:
    one, other = note("One", "The first.", id="id__same11"), note("Other", "The second.", id="id__same11")
    assert found(one, other).body_chars == found(one).body_chars


def pairs(findings: tuple[Finding, ...]) -> set[frozenset[str]]:
    return {frozenset((a, b)) for each in findings for a in each.ids for b in each.ids if a < b}


def test_planted_findings_in_a_large_store_are_found_and_no_others() -> None:
    chance = random.Random(11)
    words = [
        "".join(chance.choices("bdfgklmnprst", k=2) + chance.choices("aeiou", k=2)) + str(n % 7) for n in range(900)
    ]
    words = [word.rstrip("0123456789") + chance.choice(["lo", "ra", "mi", "tu"]) for word in words]
    store, planted = [], set()
    for n in range(150):
        subject = " ".join(chance.sample(words, 3))
        body = " ".join(f"{' '.join(chance.sample(words, 9)).capitalize()}." for _ in range(4))
        store.append(note(subject, f"{body} The {subject} limit is {chance.randint(2, 900)}."))
        if n % 10 == 0:
            store.append(note(f"{subject} settings", f"The {subject} limit is {chance.randint(1_000, 2_000)} now."))
            planted.add(frozenset(each.meta.id for each in store[-2:]))
    chance.shuffle(store)
    assert pairs(found(*store).of_kind(FindingKind.CONTRADICTION)) == planted
