"""What is kept beside the notes is read as it was written; anything else is damage, never "nothing" (P6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.forgetting import EntryTombstone, ForgettingAtWork, SessionTombstone, StateTombstone
from agent_memory.domain.history import SessionMark, TranscriptEnd
from agent_memory.domain.run_log import Undoing, UndoneMark
from agent_memory.domain.tagging import TagVocabulary
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.formats.bookkeeping_json import (
    FORGETTING,
    PURGE,
    SESSION_MARK,
    SPEND,
    SYNCED,
    SYNCING,
    TAG_VOCABULARY,
    TOMBSTONE,
    UNDOING,
    UNDONE,
    SyncAtWork,
    Tombstone,
)
from agent_memory.results import as_result

NOON_MS = 1_772_409_600_123
ONE, OTHER = "a" * 40, "b" * 64
MARK = SessionMark(Harness.AMP, "T-1", "r", 1, 2, True, "builtin", "id__a1b2c3", ("id__a1b2c3",))
NONE = frozenset[str]()
IDS, TITLES = frozenset({"id__a1b2c3"}), frozenset({"Tea"})
HISTORIES = ((Harness.CODEX, "s-1"),)
SESSION_AT_WORK = ForgettingAtWork(
    NOON_MS, True, "s-1", Harness.CODEX, IDS, NONE, ("topics/x.md",), TITLES, (), (), (), (), HISTORIES
)
TOMBSTONES: tuple[Tombstone, ...] = (
    SessionTombstone("s-1", None, NOON_MS),
    SessionTombstone("s-1", Harness.PI, NOON_MS),
    EntryTombstone("id__a1b2c3", NOON_MS, frozenset({"01", "02"})),
    StateTombstone("state/keys/plan.json", NOON_MS),
)
Parse = Callable[[bytes, str], Any]

WRITTEN: dict[str, tuple[Any, str, Parse]] = {
    "mark": (MARK, SESSION_MARK.render(MARK), SESSION_MARK.parse),
    "spend": (
        {"2026-02-13": DaySpend(3, 1200, 300)},
        SPEND.render({"2026-02-13": DaySpend(3, 1200, 300)}),
        SPEND.parse,
    ),
    "undone": (
        {"run-1": UndoneMark("run-2", frozenset({"f"}))},
        UNDONE.render({"run-1": UndoneMark("run-2", frozenset({"f"}))}),
        UNDONE.parse,
    ),
    "undoing": (Undoing("run-2", "run-1", NOON_MS), UNDOING.render(Undoing("run-2", "run-1", NOON_MS)), UNDOING.parse),
    **{f"tombstone {n}": (each, TOMBSTONE.render(each), TOMBSTONE.parse) for n, each in enumerate(TOMBSTONES)},
    "forgetting": (SESSION_AT_WORK, FORGETTING.render(SESSION_AT_WORK), FORGETTING.parse),
    "purge": (NOON_MS, PURGE.render(NOON_MS), PURGE.parse),
    **{
        f"merge from {before}": (
            SyncAtWork("refs/heads/main", before, OTHER),
            SYNCING.render(SyncAtWork("refs/heads/main", before, OTHER)),
            SYNCING.parse,
        )
        for before in (None, ONE)
    },
    **{f"synced {at_ms}": (at_ms, SYNCED.render(at_ms), SYNCED.parse) for at_ms in (None, NOON_MS)},
}


def read(parse: Parse, data: bytes) -> Result[Any, Any]:
    """What is parsed, or the error, whether `parse` raises it or returns it."""
    found = as_result(parse)(data, "p")
    return found.unwrap() if isinstance(found, Success) and isinstance(found.unwrap(), Result) else found


@pytest.mark.parametrize(("value", "text", "parse"), WRITTEN.values(), ids=WRITTEN)
def test_it_is_read_as_it_was_written(value: object, text: str, parse: Parse) -> None:
    assert read(parse, text.encode()) == Success(value)
    assert text.endswith("}\n")


@pytest.mark.parametrize(("value", "text", "parse"), WRITTEN.values(), ids=WRITTEN)
def test_anything_else_is_damage_p6(value: object, text: str, parse: Parse) -> None:
    document = json.loads(text)
    less: list[object] = [
        {key: document[key] for key in document if key != gone} for gone in document if gone not in _ABSENT
    ]
    wrong: list[object] = [{**document, key: [[]]} for key in document]
    for other in (*less, *wrong, {**document, "version": 2}, {**document, "more": 1}, [], None, {}):
        assert isinstance(read(parse, json.dumps(other).encode()), Failure), other
    for data in (b"", b"\xff", text.encode()[:-3], b'{"version": 1, "version": 1}'):
        assert isinstance(read(parse, data).failure(), StateCorrupt)


_ABSENT = ("lastAt", "handoffId", "entryIds")


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("mark", {"sessionId": ""}),
        ("mark", {"agent": ""}),
        ("mark", {"turnsSeen": -1}),
        ("mark", {"entryIds": ["x"]}),
        ("mark", {"handoffId": "../x"}),
        ("spend", {"days": {"yesterday": {"calls": 1, "promptChars": 1, "replyChars": 1}}}),
        ("spend", {"days": {"2026-02-13": {"calls": -1, "promptChars": 1, "replyChars": 1}}}),
        ("purge", {"at": "noon"}),
        ("merge from None", {"branch": "main"}),
        ("merge from None", {"from": "HEAD"}),
        ("merge from None", {"to": "--all"}),
    ],
)
def test_a_value_that_makes_no_sense_is_damage_p6_p21(name: str, changed: dict[str, object]) -> None:
    _, text, parse = WRITTEN[name]
    assert isinstance(read(parse, json.dumps({**json.loads(text), **changed}).encode()).failure(), StateCorrupt)


ids = st.from_regex(r"id__[1-9A-HJ-NP-Za-km-z]{6}", fullmatch=True)
hostile = st.text(st.characters(), min_size=1)
marks = st.builds(
    SessionMark,
    harness=st.sampled_from(Harness),
    session_id=hostile,
    last_record_id=st.text(),
    last_at_ms=st.none() | st.integers(0, 2**53),
    turns_seen=st.integers(0, 10**6),
    tools_answered=st.booleans(),
    agent_name=hostile,
    handoff_id=st.none() | ids,
    entry_ids=st.lists(ids, max_size=4).map(tuple),
    elsewhere=st.lists(st.builds(TranscriptEnd, hostile, hostile, st.none() | st.just(5), st.integers(0, 9))).map(
        tuple
    ),
)


@settings(max_examples=60)
@given(marks)
def test_any_mark_survives(mark: SessionMark) -> None:
    assert SESSION_MARK.parse(SESSION_MARK.render(mark).encode("utf-8", "backslashreplace"), "m.json") == mark


# -- tags, which a person may write

tags = st.sampled_from(["topic__a", "area__b", "topic__c++", "bare", "topic__é"])


@given(st.frozensets(tags), st.lists(st.tuples(tags.filter(lambda tag: "__" in tag), st.just("topic__z"))))
def test_a_vocabulary_is_read_as_it_was_written(accepted: frozenset[str], renamed: list[tuple[str, str]]) -> None:
    vocabulary = TagVocabulary(accepted, dict(renamed))
    assert as_result(TAG_VOCABULARY.parse)(TAG_VOCABULARY.render(vocabulary).encode(), "x") == Success(vocabulary)


@pytest.mark.parametrize(
    "document",
    [
        ["Deploy", "area__Web"],
        {"vocabulary": ["Deploy", "area__Web"], "updated": "2025-06-01"},
        {"value": {"vocabulary": ["Deploy", "area__Web"]}},
        {"version": 1, "vocabulary": ["Deploy", 7, "!!!", "area__Web"], "renamed": {}},
    ],
)
def test_what_people_and_other_programs_write(document: object) -> None:
    found = as_result(TAG_VOCABULARY.parse)(json.dumps(document).encode(), "x")
    assert found == Success(TagVocabulary(frozenset(("deploy", "area__web"))))


def test_renamings_by_hand_make_no_circle() -> None:
    document = {"vocabulary": [], "renamed": {"a": "b", "b": "a", "c": "b", "d": "D"}}
    found = as_result(TAG_VOCABULARY.parse)(json.dumps(document).encode(), "x").unwrap()
    assert found.renamed == {"topic__c": "topic__b"}


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b'"x"', b"7", b'{"vocabulary": "x"}', b"\xff", b'{"a": 1, "a": 2}'])
def test_what_is_no_vocabulary_is_an_error_p6(data: bytes) -> None:
    assert isinstance(as_result(TAG_VOCABULARY.parse)(data, "state/project_tags.json").failure(), StateCorrupt)
