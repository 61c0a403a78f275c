"""What a rewrite may not do to what a note says, though it keeps most of the words."""

from __future__ import annotations

import pytest

from agent_memory.note.note import Origin
from agent_memory.rules.information import lost_content, origin_of_fresh_text
from agent_memory.rules.plan import Edit, Merge, Rename
from defrag_entries import facts_of, note, planned, reasons, written

SWAPS = [
    ("The hook fires twice on each save.", "The hook fires once on each save.", "twice"),
    ("Rejected: Redis for the job queue.", "Chosen: Redis for the job queue.", "rejected"),
    ("Run the migration before the deploy.", "Run the migration after the deploy.", "before"),
    ("The first worker keeps the lock.", "The last worker keeps the lock.", "first"),
    ("Always squash commits on merge.", "Sometimes squash commits on merge.", "always"),
]


@pytest.mark.parametrize(("before", "after", "lost"), SWAPS)
def test_another_word_in_a_sentence_is_named_or_refused_and_nobodys_p12_p19(before: str, after: str, lost: str) -> None:
    assert lost in lost_content((before,), after)
    assert lost_content((before,), after, (lost,)) == ()
    assert origin_of_fresh_text(before, after) is not Origin.USER
    for description in ("", "What a worker knows."):
        said = note("a", "A title", before, origin=Origin.USER, description=description)
        edit = Edit(said.meta.id, before, after)
        assert f"'{lost}'" in reasons(planned(facts_of(said), edit))
        (entry,) = written(planned(facts_of(said), Edit(said.meta.id, before, after, (lost,))))
        assert entry.meta.origin is not Origin.USER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The hook fires twice on each save.", "The hook fire twice on each save."),
        ("The hook fires twice on each save.", "On each save this hook fires twice."),
        ("Teh worker keeps the lock.", "The worker keeps the lock."),
        ("See [[id__aaaaaa|builds]] for the steps.", "See builds for the steps."),
    ],
)
def test_spelling_order_and_small_words_are_no_other_words(before: str, after: str) -> None:
    assert lost_content((before,), after) == ()


def test_a_title_says_nothing_that_its_note_says_otherwise_unless_it_drops_it_p12_p19() -> None:
    said = note("a", "The hook fires twice", "The hook fires twice on each save.", origin=Origin.USER)
    assert "'twice'" in reasons(planned(facts_of(said), Rename(said.meta.id, "The hook fires once")))
    (entry,) = written(planned(facts_of(said), Rename(said.meta.id, "The hook fires once", ("twice",))))
    assert (entry.meta.title, entry.meta.origin) == ("The hook fires once", Origin.AGENT)


def test_what_a_source_quotes_stays_as_quoted_or_goes_p12() -> None:
    said = note("a", "Style", 'Ann: "we indent by tabs here". So it is in all files of the web client.')
    turned = 'Ann: "we indent by spaces here". So it is in all files of the web client.'
    assert "no source says" in reasons(planned(facts_of(said), Edit(said.meta.id, said.body, turned, ("tabs",))))
    told = "Ann wants tabs, as she said. So it is in all files of the web client."
    dropping = Edit(said.meta.id, said.body, told, ("indent", "here"))
    assert planned(facts_of(said), dropping).dropped == ()


def test_nobody_confirmed_what_no_source_says_they_did_p19() -> None:
    said = note("a", "Cache", "The cache is not verified on Windows. It holds one hour.")
    drops = ("not verified on Windows", "not verified")
    for claim in ("The person confirmed it on Windows.", "It was approved by the user."):
        edit = Edit(said.meta.id, "The cache is not verified on Windows.", claim, drops)
        assert "no source says that a person did" in reasons(planned(facts_of(said), edit))
    confirmed = note("b", "Cache", "The user confirmed that the cache works on Windows. It holds one hour.")
    kept = Edit(
        confirmed.meta.id, confirmed.body, "Cache: the user confirmed that it works on Windows. It holds one hour."
    )
    assert planned(facts_of(confirmed), kept).dropped == ()


def test_a_negation_may_be_said_in_other_words() -> None:
    before = "Migrations do not run on replicas."
    for after in ("Migrations skip replicas.", "Migrations run on the primary instead of replicas."):
        assert lost_content((before,), after) == (), after


def test_a_merge_is_held_to_the_same_p12_p19() -> None:
    one = note("a", "Hook", "The hook fires twice on each save.", origin=Origin.USER)
    two = note("b", "Saves", "A save takes one second.", origin=Origin.USER)
    merge = Merge(
        (one.meta.id, two.meta.id), "Saves and hook", "The hook fires once on each save.\nA save takes one second."
    )
    assert "'twice'" in reasons(planned(facts_of(one, two), merge))
