"""What is kept beside the notes is read as it was written; anything else is damage, never "nothing" (P6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result, Success

from agent_memory.errors import StateCorrupt
from agent_memory.note.note import Harness, MemoryEntry, Meta, TierList
from agent_memory.note.tagging import TagVocabulary
from agent_memory.results import as_result
from agent_memory.rules.change import Change, FileChange, FileState, Footprint, SectionChange
from agent_memory.rules.forgotten import EntryTombstone, ForgettingAtWork, SessionTombstone
from agent_memory.rules.plan import DaySpend
from agent_memory.rules.run import KeptReply, Run, TieringMemo, Work
from agent_memory.rules.run_log import LoggedAction, LoggedRun
from agent_memory.session.history import History, Role, SessionMark, ToolCall, Turn
from agent_memory.session.queue import InboxEntry, InlineNote, Pending
from agent_memory.store.bookkeeping import (
    FOOTPRINT,
    FORGETTING,
    PURGE,
    SESSION_MARK,
    SPEND,
    SYNCED,
    SYNCING,
    TAG_VOCABULARY,
    TOMBSTONE,
    Step,
    SyncAtWork,
    parse_journal,
    render_journal,
)
from agent_memory.store.kept_histories_files import parse_history_lines, render_history_lines
from agent_memory.store.note_files import parse_tiers, render_tiers
from agent_memory.store.run_json import (
    CHANGES,
    CHECKPOINT,
    REPLY,
    TIERING,
    parse_report,
    render_report,
)
from agent_memory.text.json_codec import Documents

NOON_MS = 1_772_409_600_123
ONE, OTHER, HASH = "a" * 40, "b" * 64, "0" * 64
A, B = "id__a1b2c3", "id__bbbbbb"
MARK = SessionMark(Harness.AMP, "T-1", "r", 1, 2, True, "builtin", A, (A,))
FORGOTTEN = ForgettingAtWork(
    NOON_MS, True, "s-1", Harness.CODEX, frozenset({A}), frozenset[str](), ("topics/x.md",), frozenset({"Tea"}),
    (), (), (), (), ((Harness.CODEX, "s-1"),),
)  # fmt: skip
FILE = FileChange("topics/a.md", FileState(b"\0", 1), FileState(b"A"))
SECTION = SectionChange("/h/A.md", "old", "x", "\n", False)
PENDING = Pending(InboxEntry(NOON_MS, Harness.MANUAL, InlineNote("Tea", "Green.")), "one.json", ("one.json",))
MEMO = TieringMemo("f", "scripted", frozenset({"j"}))
REPORT = LoggedRun(
    run_id="2026-02-13T14-30-05.123Z_4dbfbe",
    machine="defrag",
    started_at_ms=NOON_MS,
    ended_at_ms=NOON_MS,
    result="completed",
    summary="1 merged",
    actions=(LoggedAction("merge", (A, B), ("id__g7h8j9",), "Ports of the api", "f" * 32),),
    dropped=(f"{A}: it is pinned",),
    warnings=("git is away",),
)

Parse = Callable[[bytes, str], Any]
Kept = tuple[Any, str, Parse]


def kept(format: Documents[Any], value: object) -> Kept:
    return value, format.render(value), format.parse


WRITTEN: Mapping[str, Kept] = {
    "mark": kept(SESSION_MARK, MARK),
    "spend": kept(SPEND, {"2026-02-13": DaySpend(3, 1200, 300)}),
    "tombstone of a session": kept(TOMBSTONE, SessionTombstone("s-1", Harness.PI, NOON_MS)),
    "tombstone of a note": kept(TOMBSTONE, EntryTombstone(A, NOON_MS, frozenset({"01", "02"}))),
    "forgetting": kept(FORGETTING, FORGOTTEN),
    "purge": kept(PURGE, NOON_MS),
    "merge": kept(SYNCING, SyncAtWork("refs/heads/main", ONE, OTHER)),
    "synced": kept(SYNCED, None),
    "footprint": kept(FOOTPRINT, Footprint((FILE,), (SECTION,))),
    "journal": (
        steps := (Step("topics/a.md", FileState(b"A", 1), HASH, "0.new"), Step("x", None, None, None)),
        render_journal(steps).decode(),
        parse_journal,
    ),
    "tiers": (tiers := TierList((B, A), ("id__cccccc",)), render_tiers(tiers).decode(), parse_tiers),
    "checkpoint": (
        ("write_entries", Run("run-1", NOON_MS, work=Work(PENDING), resumed=True)),
        CHECKPOINT.render(("write_entries", Run("run-1", NOON_MS, work=Work(PENDING)))),
        CHECKPOINT.parse,
    ),
    "reply": kept(REPLY, KeptReply("text", "nonce", "hash", {A: "h"})),
    "changes": kept(
        CHANGES, (Change.of(MemoryEntry(Meta(A, "Tea", NOON_MS, NOON_MS), "Green.")), Change.retire(B, "h"))
    ),
    "what was judged": kept(TIERING, MEMO),
    "report": (REPORT, render_report(REPORT), parse_report),
}


def read(parse: Parse, data: bytes) -> Result[Any, Any]:
    """What is parsed, or the error, whether `parse` raises it or returns it."""
    found = as_result(parse)(data, "p")
    return found.unwrap() if isinstance(found, Success) and isinstance(found.unwrap(), Result) else found


@pytest.mark.parametrize(("value", "text", "parse"), WRITTEN.values(), ids=WRITTEN)
def test_it_is_read_as_it_was_written(value: object, text: str, parse: Parse) -> None:
    assert read(parse, text.encode()) == Success(value)
    assert text.endswith("\n") != (parse is parse_journal), "that is what ends a journal"


@pytest.mark.parametrize(("text", "parse"), [each[1:] for each in WRITTEN.values()], ids=WRITTEN)
def test_anything_else_is_damage_p6(text: str, parse: Parse) -> None:
    data = text.encode().rstrip(b"\n")
    for damaged in (b"", b"\xff", b"null", b"[]", b"5", b"[" * 100_000, b'{"version": 1, "version": 1}', data[:-1]):
        assert isinstance(read(parse, damaged).failure(), StateCorrupt), damaged
    whole = json.loads(text)
    for document in spoilt(whole):
        if any(document.get(key) != whole.get(key) for key in ("version", "state")):
            continue  # what a run left for the next is read whatever its version
        found = read(parse, json.dumps(document).encode())
        assert isinstance(found, Failure), document
        assert isinstance(found.failure(), StateCorrupt)
        assert found.failure().problems


def spoilt(document: Any) -> Iterator[Any]:
    """The document with one of its values, at any depth, of another type."""
    if isinstance(document, dict):
        for key, value in document.items():
            for other in ([[[]]], *spoilt(value)):
                yield {**document, key: other}
    elif isinstance(document, list):
        for at, value in enumerate(document):
            for other in ([[[]]], *spoilt(value)):
                yield [*document[:at], other, *document[at + 1 :]]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        *((name, {"version": 2}) for name in ("mark", "footprint", "journal", "report", "tombstone of a note")),
        *((name, {"more": 1}) for name in ("mark", "footprint", "journal", "tiers")),
        ("mark", {"sessionId": ""}),
        ("mark", {"agent": ""}),
        ("mark", {"turnsSeen": -1}),
        ("mark", {"entryIds": ["x"]}),
        ("mark", {"handoffId": "../x"}),
        ("spend", {"days": {"yesterday": {"calls": 1, "promptChars": 1, "replyChars": 1}}}),
        ("spend", {"days": {"2026-02-13": {"calls": -1, "promptChars": 1, "replyChars": 1}}}),
        ("purge", {"at": "noon"}),
        ("merge", {"branch": "main"}),
        ("merge", {"from": "HEAD"}),
        ("merge", {"to": "--all"}),
        ("footprint", {"files": [{"path": "", "before": None, "after": None}]}),
        ("footprint", {"sections": [{"path": "", "before": None, "after": "x", "separator": "", "created": False}]}),
        ("journal", {"steps": [{"path": "x", "before": None, "afterHash": "xyz", "staged": "0.new"}]}),
        ("journal", {"steps": [{"path": "x", "before": None, "afterHash": None, "staged": "0.new"}]}),
        ("journal", {"steps": [{"path": "x", "before": None, "afterHash": HASH, "staged": "../../x"}]}),
        ("tiers", {"hot": ["x"]}),
        ("tiers", {"hot": [A, A]}),
        ("tiers", {"warm": [A]}),
        ("report", {"machine": "sweep"}),
        ("report", {"startedAt": "yesterday"}),
        ("report", {"sessions": [{}]}),
        ("changes", {"changes": [{"act": "explode"}]}),
    ],
)
def test_a_value_that_makes_no_sense_is_damage_p6_p21(name: str, changed: dict[str, object]) -> None:
    _, text, parse = WRITTEN[name]
    assert isinstance(read(parse, json.dumps({**json.loads(text), **changed}).encode()).failure(), StateCorrupt)


# -- tags, which a person may write


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
    found = TAG_VOCABULARY.parse(json.dumps(document).encode(), "x")
    assert found == TagVocabulary(frozenset(("deploy", "area__web")))


def test_renamings_by_hand_make_no_circle() -> None:
    document = {"vocabulary": [], "renamed": {"a": "b", "b": "a", "c": "b", "d": "D"}}
    assert TAG_VOCABULARY.parse(json.dumps(document).encode(), "x").renamed == {"topic__c": "topic__b"}


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b'"x"', b"7", b'{"vocabulary": "x"}', b"\xff", b'{"a": 1, "a": 2}'])
def test_what_is_no_vocabulary_is_an_error_p6(data: bytes) -> None:
    assert isinstance(read(TAG_VOCABULARY.parse, data).failure(), StateCorrupt)


# -- histories, a record a line

words = st.text(max_size=60)
some = st.none() | st.text(min_size=1, max_size=60)
instants = st.none() | st.integers(0, 2**53)
calls = st.builds(ToolCall, words, words, some, st.booleans())
turns = st.builds(
    Turn, st.integers(1, 10**7), st.sampled_from(Role), words, words, instants, st.lists(calls, max_size=2).map(tuple),
    some, st.booleans(), clipped_chars=st.integers(0, 10**6),
)  # fmt: skip
histories = st.builds(
    History, st.sampled_from(Harness), words, st.lists(turns, max_size=4).map(tuple), after_record=some, title=some, cwd=some,
    branch=some, agent=some, started_at_ms=instants, ended_at_ms=instants, tools_answered_before=st.booleans(), remaining=st.booleans(),
)  # fmt: skip
ABOUT = {"version": 1, "harness": "amp", "sessionId": "T-1"}
TURN = {"number": 1, "role": "user", "text": "\ud83d", "record": "r1"}


@settings(max_examples=80)
@given(histories)
def test_a_history_is_read_as_it_was_written(part: History) -> None:
    lines = list(render_history_lines(part))
    assert len(lines) == len(part.turns) + 1
    assert all(line.isascii() and line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert parse_history_lines(lines, "x") == part


def test_a_history_of_a_version_that_wrote_the_place_of_a_call_is_read() -> None:
    turn = Turn(3, Role.TOOL, "12 passed", "r3", None, (), "Bash")
    lines = list(render_history_lines(History(Harness.CLAUDE_CODE, "s1", (turn,))))
    lines[1] = lines[1].replace("{", '{"answers":[2,0],', 1)
    assert parse_history_lines(lines, "histories/s1").turns == (turn,)


def test_any_other_history_is_refused_as_a_whole_p6() -> None:
    shortest = [json.dumps(ABOUT), json.dumps(TURN)]
    half = History(Harness.AMP, "T-1", (Turn(1, Role.USER, "\ud83d", "r1"),))
    assert parse_history_lines(shortest, "x") == half, "positive control"
    about = [
        {**ABOUT, "version": True},
        {**ABOUT, "harness": "clippy"},
        {**ABOUT, "more": 1},
        {**ABOUT, "startedAt": "now"},
    ]
    turns = [{**TURN, "role": "system"}, {**TURN, "number": "1"}, {"number": 1}, {**TURN, "calls": [{"name": "x"}]}]
    for lines in (
        *([], ["not json"], ["[" * 100_000], ["[]"], [shortest[0], shortest[1][:-3]]),
        *([json.dumps(each)] for each in about),
        *([shortest[0], json.dumps(each)] for each in turns),
    ):
        with pytest.raises(StateCorrupt):
            parse_history_lines(lines, "histories/x")
