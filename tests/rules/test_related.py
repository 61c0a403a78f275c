from __future__ import annotations

from typing import Any

from attrs import evolve

from agent_memory.note.note import Harness, Listed, Meta, Sensitivity, StoredEntry
from agent_memory.note.tagging import TagVocabulary
from agent_memory.rules.shown import (
    catalog_of,
    choose_shown,
    ids_to_show,
    note_chars,
    rank_related,
    tag_vocabulary,
)
from agent_memory.session.history import History, Role, ToolCall, Turn

REPO = "github.com/acme/web"


def listed(id: str, title: str, **meta: Any) -> Listed:
    return Listed(Meta(id, title, 0, 0, **{"scope": REPO, **meta}), f"topics/{id}.md", f"h-{id}")


def window(*texts: str, role: Role = Role.USER, calls: tuple[ToolCall, ...] = ()) -> History:
    turns = tuple(Turn(n, role, text, f"r{n}", tool_calls=calls) for n, text in enumerate(texts, 1))
    return History(Harness.AMP, "s", turns)


PORTS = listed("id__ports1", "Staging server ports", description="Which port the staging server listens on")
TESTS = listed("id__tests1", "Flaky integration tests", tags=("topic__pytest",))
OTHER = listed("id__other1", "Release checklist")


def test_what_the_session_speaks_of_comes_first() -> None:
    ranked = rank_related(window("The staging server does not answer on its port"), (OTHER, TESTS, PORTS), REPO)
    assert next(iter(ranked)) == PORTS.meta.id
    assert ids_to_show(ranked) == (PORTS.meta.id,)


def test_what_an_agent_did_and_the_title_of_the_session_count_and_what_tools_returned_does_not() -> None:
    ran, edited = ToolCall("Bash", "pytest tests/integration"), ToolCall("Edit", "", "releases/checklist.md")
    for session, shown in (
        (window("", role=Role.AGENT, calls=(ran,)), (TESTS.meta.id,)),
        (window("", role=Role.AGENT, calls=(edited,)), (OTHER.meta.id,)),
        (evolve(window(""), title="Flaky tests"), (TESTS.meta.id,)),
        (window("flaky tests", role=Role.TOOL), ()),
    ):
        assert ids_to_show(rank_related(session, (OTHER, TESTS), REPO)) == shown


def test_a_catalog_holds_all_that_an_agent_may_know_of_and_the_related_first() -> None:
    elsewhere = listed("id__else11", "Staging port", scope="github.com/other/x")
    secret = listed("id__secre1", "Staging port", sensitivity=Sensitivity.SECRET)
    everywhere = listed("id__every1", "Staging port", scope="global")
    newer = evolve(OTHER, meta=evolve(OTHER.meta, id="id__newer1", updated_at_ms=5))
    live = (OTHER, elsewhere, newer, secret, everywhere)
    related = rank_related(window("staging port"), live, REPO)
    assert list(related) == [everywhere.meta.id]
    catalog = [each.meta.id for each in catalog_of(related, live, REPO)]
    assert catalog == [everywhere.meta.id, "id__newer1", OTHER.meta.id]


def test_what_is_far_behind_the_most_related_is_not_worth_reading() -> None:
    related = {"id__best11": 4.0, "id__near11": 1.4, "id__far111": 1.39}
    assert ids_to_show(related) == ("id__best11", "id__near11")
    assert ids_to_show({"id__small1": 0.5}) == ("id__small1",)


def test_entries_are_shown_whole_or_not_at_all_p11() -> None:
    large, small = StoredEntry(PORTS, "x" * 1_000), StoredEntry(TESTS, "short")
    room = note_chars(PORTS.meta, 1_000)
    assert choose_shown((large, small), room + note_chars(TESTS.meta, 5)) == (large, small)
    assert choose_shown((large, small), room - 1) == (small,)
    assert choose_shown((large, small), 0) == ()


def test_an_entry_that_would_not_be_seen_whole_is_not_shown() -> None:
    secret = StoredEntry(evolve(PORTS, meta=evolve(PORTS.meta, sensitivity=Sensitivity.SECRET)), "x")
    token = StoredEntry(PORTS, "ghp_" + "A1b2C3d4" * 4 + "E5f6")
    conflicted = StoredEntry(evolve(PORTS, conflicted=True), "x")
    assert choose_shown((secret, token, conflicted, StoredEntry(TESTS, "x")), 10_000) == (StoredEntry(TESTS, "x"),)


def test_tags_come_by_how_often_they_are_used_the_accepted_first_and_the_renamed_not_at_all() -> None:
    entries = (listed("a", "a", tags=("topic__x", "topic__b")), listed("b", "b", tags=("topic__x", "topic__a")))
    assert tag_vocabulary(entries) == ("topic__x", "topic__a", "topic__b")
    assert tag_vocabulary(entries, most=1) == ("topic__x",)
    many = tuple(f"topic__{n:03}" for n in range(101))
    assert tag_vocabulary((listed("a", "a", tags=many),)) == many[:100]
    known = TagVocabulary(frozenset(("topic__b", "area__new", "bare")), {"topic__x": "topic__y"})
    assert tag_vocabulary(entries, known) == ("topic__b", "area__new", "topic__y", "topic__a")
