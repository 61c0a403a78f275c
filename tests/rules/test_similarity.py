"""What is about the same subject, and the nearness of vectors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind, StoredEntry
from agent_memory.rules.similarity import Subject, cosine, meaning_text, packed, says_nothing_new, similar_among
from analysed_notes import note

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


def test_how_much_must_be_in_common_can_be_set() -> None:
    again = Subject(
        "Wheel", "The wheel zooms the viewer between 0.1 and 4; three buttons do the rest, and Ada draws icons."
    )
    assert [similar_among(again, KNOWN, [None] * 4, least) for least in (0.5, 0.65)] == [(VIEWER,), ()]


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


def test_the_text_of_a_meaning_is_title_description_and_what_the_body_says_each_once() -> None:
    body = "Build bin, then mcp.\n\nSee also: [[id__a1b2c3]]"
    assert meaning_text("Order", "In which order", body) == "Order\nIn which order\nBuild bin, then mcp."
    assert meaning_text("Build bin…", "then mcp…", body) == "Build bin, then mcp."
    assert meaning_text("", "", "") == ""
    assert len(meaning_text("Build", "", "word " * 100_000)) < 10_000


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
