"""P9: only a whole envelope with its nonce is progress."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.note.note import Importance, Kind
from agent_memory.prompt.reply import MAX_ENTRIES, MAX_REPLY_CHARS, MAX_UPDATES, decode_reply, parse_reply
from agent_memory.rules.plan import ChangeSet, ProposedEntry, ProposedUpdate
from read_replies import NONCE, envelope, refused_by

ENTRY = {
    "title": "Bun tests are flaky",
    "body": "Use `bun test --rerun 2` in CI.",
    "kind": "lesson",
    "tags": ["topic__bun"],
}


GOOD = envelope(entries=[ENTRY])


def accepted(text: str) -> ChangeSet:
    result = parse_reply(text, NONCE)
    assert isinstance(result, Success), result
    change_set: ChangeSet = result.unwrap()
    return change_set


def refused(text: str) -> str:
    return refused_by(parse_reply, text)


def dropped_from(**members: Any) -> str:
    change_set = accepted(envelope(**{"skipped": None, "entries": [ENTRY], **members}))
    return "; ".join(reason for each in change_set.dropped for reason in each.reasons)


def test_every_member_of_an_entry_is_read() -> None:
    full = {
        **ENTRY,
        "ref": "a",
        "description": "Flaky",
        "scope": "repo",
        "importance": "high",
        "confidence": 1,
        "turns": [9, 3, 3],
        "links": ["ref:b"],
        "supersedes": ["id__a1b2c3"],
    }
    assert accepted(envelope(entries=[full])).entries == (
        ProposedEntry(
            "Bun tests are flaky",
            "Use `bun test --rerun 2` in CI.",
            Kind.LESSON,
            ("topic__bun",),
            "a",
            "Flaky",
            "repo",
            Importance.HIGH,
            1.0,
            (3, 9),
            ("ref:b",),
            ("id__a1b2c3",),
        ),
    )


def test_every_member_of_an_update_is_read_and_what_is_absent_stays_none() -> None:
    updates = [
        {"id": "id__a1b2c3", "body": "New", "drops": ["8080"], "turns": [12], "why": "moved"},
        {"id": "id__a1b2c4", "tags": []},
    ]
    assert accepted(envelope(updates=updates)).updates == (
        ProposedUpdate("id__a1b2c3", body="New", drops=("8080",), turns=(12,), why="moved"),
        ProposedUpdate("id__a1b2c4", tags=()),
    )


def test_nothing_worth_keeping_is_an_answer() -> None:
    assert accepted(envelope(entries=[], updates=[], skipped=" Only small talk. ")) == ChangeSet(
        skipped="Only small talk."
    )


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f'<think>{{"entries": [{{"title": "draft"}}]}}</think>\n{GOOD}',
        "\ufeff" + json.dumps(json.loads(GOOD), indent=2).replace("\n", "\r\n"),
        json.dumps({"entries": [ENTRY], "version": 1, "nonce": NONCE}),
        f'She said "{{" and it\'s {{fine}}: {GOOD} }}',
    ],
)
def test_whatever_stands_around_the_object_is_ignored(text: str) -> None:
    assert accepted(text) == accepted(GOOD)


def test_a_byte_order_mark_is_no_part_of_the_text_and_other_encodings_are_refused() -> None:
    assert decode_reply(b"\xef\xbb\xbf" + GOOD.encode()).unwrap() == GOOD
    failed = decode_reply(GOOD.encode() + b"\xff\xfe")
    assert isinstance(failed, Failure)
    assert failed.failure().reasons == (f"it is not UTF-8 (byte {len(GOOD)})",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry, but I can't help with that.",
        'I cannot.\n\n{"entries": []}',
        GOOD.replace(NONCE, NONCE + "0"),
        "[" * 200_000 + "]" * 200_000,
        '{"nonce": ' * 20_000 + f'"{NONCE}"',
    ],
)
def test_text_without_the_envelope_is_refused(text: str) -> None:
    assert refused(text)


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=len(GOOD) - 1))
def test_a_cut_reply_is_never_completed(length: int) -> None:
    refused(GOOD[:length])


def test_text_made_to_be_slow_is_given_up() -> None:
    hostile = '{\\"' * 20_000 + f'"nonce": "{NONCE}"'
    assert "too entangled" in refused(hostile)


def test_a_key_twice_refuses_the_reply() -> None:
    assert "stands twice" in refused(GOOD.replace('"title":', '"title": "../../evil", "title":', 1))


def test_two_different_objects_with_the_nonce_are_refused() -> None:
    assert "2 different objects" in refused(f"{GOOD}\n{envelope(skipped='nothing')}")


def test_what_is_almost_json_is_repaired_where_nothing_is_lost() -> None:
    almost = f"""{{version: 1, 'nonce': '{NONCE}', "entries": [{{"title": "A "quoted" word", "body": "two
lines", "kind": "fact", "tags": [],}},]}}"""
    assert accepted(almost).entries == (ProposedEntry('A "quoted" word', "two\nlines", Kind.FACT, ()),)


def test_a_repair_that_would_lose_text_is_refused() -> None:
    """A comment, or a key that stands twice beside a syntax error."""
    assert refused(GOOD[:-1] + ", // and so on\n}")
    assert refused(GOOD.replace('"title":', '"title": "evil", "title":', 1)[:-1] + ",}")


def test_over_the_limits_the_whole_reply_is_refused() -> None:
    assert len(accepted(envelope(entries=[ENTRY] * MAX_ENTRIES)).entries) == MAX_ENTRIES
    assert "entries has 51 items" in refused(envelope(entries=[ENTRY] * (MAX_ENTRIES + 1)))
    assert "updates has 101 items" in refused(envelope(updates=[{"id": "id__a1b2c3", "tags": []}] * (MAX_UPDATES + 1)))
    assert "longer than" in refused(GOOD + " " * MAX_REPLY_CHARS)


def test_a_bad_envelope_lists_every_problem() -> None:
    problems = refused(json.dumps({"version": 3, "nonce": NONCE, "entries": {"0": 1}, "updates": "x", "skipped": 4}))
    assert (
        problems
        == "version is 3, expected 1; entries is an object, expected a list; updates is 'x', expected a list; skipped is 4, expected text"
    )


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ({"title": None}, "entries[1].title is missing"),
        ({"body": ["a"]}, "entries[1].body is a list, expected text"),
        ({"tags": None}, "entries[1].tags is missing"),
        ({"kind": "note"}, "entries[1].kind is 'note', expected one of decision, lesson"),
        ({"confidence": True}, "entries[1].confidence is true"),
        ({"turns": [0]}, "entries[1].turns[0] is 0, expected a turn number from 1"),
        ({"importance": "huge"}, "entries[1].importance is 'huge', expected one of low"),
        ({"supersedes": ["../x"]}, "entries[1].supersedes[0] is '../x', expected an id like id__a1b2c3"),
        ({"id": "id__a1b2c3"}, "entries[1].id is unknown"),
        ({"title": "\ud800"}, "entries[1].title holds half a character"),
    ],
)
def test_an_item_out_of_shape_is_dropped_with_its_reasons(member: dict[str, Any], reason: str) -> None:
    text = envelope(entries=[ENTRY, {**ENTRY, **member}]).replace("Infinity", "1e999")
    change_set = accepted(text)
    assert len(change_set.entries) == 1
    assert reason in "; ".join(change_set.dropped[0].reasons)


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"id": "id__a1b2c3"}, "changes nothing in it"),
        ({"body": "x"}, "updates[0].id is missing"),
        ({"id": "id__0OIl00", "body": "x"}, "updates[0].id is 'id__0OIl00', expected an id like id__a1b2c3"),
        ({"id": "id__a1b2c3", "body": ""}, "updates[0].body is empty"),
        ({"id": "id__a1b2c3", "origin": "user", "body": "x"}, "updates[0].origin is unknown"),
    ],
)
def test_an_update_out_of_shape_is_dropped_with_its_reasons(update: dict[str, Any], reason: str) -> None:
    assert reason in dropped_from(updates=[update])


def test_a_reply_of_which_nothing_is_left_is_refused() -> None:
    assert "holds no entries" in refused(envelope(entries=[], updates=[]))
    assert "holds no entries" in refused(envelope(skipped="  "))
    assert "body is missing" in refused(envelope(entries=[{"title": "x"}], skipped="the rest was small talk"))


def test_a_ref_given_twice_means_the_first() -> None:
    entries = accepted(envelope(entries=[{**ENTRY, "ref": "a"}, {**ENTRY, "ref": "a"}])).entries
    assert [entry.ref for entry in entries] == ["a", None]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys((*ENTRY, "ref", "turns", "links", "confidence", "id", "drops"), JSON_VALUES)
)


@settings(deadline=None)
@given(
    st.lists(ITEMS | JSON_VALUES, max_size=4),
    st.lists(ITEMS | JSON_VALUES, max_size=4),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_any_json_is_accepted_or_refused(entries: list[Any], updates: list[Any], before: str, after: str) -> None:
    result = parse_reply(before + envelope(entries=entries, updates=updates) + after, NONCE)
    if isinstance(result, Success):
        change_set = result.unwrap()
        assert change_set.entries or change_set.updates
        assert all(entry.body.encode() and entry.title.encode() for entry in change_set.entries)
