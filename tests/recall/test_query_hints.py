"""What a query asks for beside its words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from agent_memory.note.vocabulary import Kind
from agent_memory.recall.ranking import Period, hints_of


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


NOW_MS = ms("2026-02-13T14:30")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("decision about the queue", Kind.DECISION),
        ("what did we decide on Friday", Kind.DECISION),
        ("why did we choose Postgres", Kind.DECISION),
        ("decisões sobre filas", Kind.DECISION),
        ("lessons about retries", Kind.LESSON),
        ("lessons learned", Kind.LESSON),
        ("my preferences for tests", Kind.PREFERENCE),
        ("open tasks", Kind.TASK),
        ("what is left to do", Kind.TASK),
        ("the last handoff", Kind.HANDOFF),
        ("where did we leave off", Kind.HANDOFF),
    ],
)
def test_a_kind_is_asked_for(query: str, kind: Kind) -> None:
    assert hints_of(query, NOW_MS).kinds == {kind}


@pytest.mark.parametrize(
    "query", ["graph legend category colors decision pattern", "task queue worker", "preferences.py"]
)
def test_a_word_of_the_subject_is_no_kind(query: str) -> None:
    assert hints_of(query, NOW_MS).kinds == frozenset()


def test_the_newest_is_asked_for() -> None:
    assert hints_of("latest version of the schema", NOW_MS).newest
    assert hints_of("qual a porta atual", NOW_MS).newest
    assert not hints_of("schema version", NOW_MS).newest


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("deploy on 2026-01-31", "2026-01-31", "2026-02-01"),
        ("deploys of 2025-12", "2025-12-01", "2026-01-01"),
        ("what happened on January 5", "2026-01-05", "2026-01-06"),
        ("on 24 December", "2025-12-24", "2025-12-25"),
        ("May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("in May", "2025-05-01", "2025-06-01"),
        ("since March 2024", "2024-03-01", None),
        ("before 2026-01-10", None, "2026-01-11"),
        ("as of July 29", None, "2025-07-30"),
        ("after 2024", "2024-01-01", None),
        ("em 3 de março de 2024", "2024-03-03", "2024-03-04"),
        ("what did we do yesterday", "2026-02-12", "2026-02-13"),
        ("changes since yesterday", "2026-02-12", None),
    ],
)
def test_a_time_is_named(query: str, start: str | None, end: str | None) -> None:
    wanted = Period(None if start is None else ms(start), None if end is None else ms(end))
    assert hints_of(query, NOW_MS).periods == (wanted,)


@pytest.mark.parametrize("query", ["it may fail", "31 February", "version 2024", "march through the list", "12 items"])
def test_what_is_no_date_names_no_time(query: str) -> None:
    assert hints_of(query, NOW_MS).periods == ()


def test_ids_are_found_in_any_text_each_once() -> None:
    query = "see [[id__a1b2c3|this]] and id__d4e5f6, id__a1b2c3"
    assert hints_of(query, NOW_MS).ids == ("id__a1b2c3", "id__d4e5f6")
    assert hints_of("id__a1b2c3d grid__a1b2c3", NOW_MS).ids == ()


@given(
    st.sampled_from(["ſeptember 3 2024", "ınce 2024-02-30", "9999-12-31", "december 31 9999", "thıs week", "K 2024-13"])
)
def test_letters_that_only_look_alike_end_in_no_error(query: str) -> None:
    assert hints_of(query, NOW_MS).ids == ()
