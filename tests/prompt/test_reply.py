"""P9: only a whole envelope with its nonce is progress, for consolidate and for defrag."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, ReplyRefused
from agent_memory.note.note import Importance, Kind, TierList
from agent_memory.prompt.reply import (
    MAX_ENTRIES,
    MAX_REPLY_CHARS,
    MAX_TIER_IDS,
    MAX_UPDATES,
    decode_reply,
    parse_defrag_reply,
    parse_reply,
)
from agent_memory.rules.plan import (
    Archive,
    ChangeSet,
    DefragProposal,
    Edit,
    Merge,
    ProposedEntry,
    ProposedUpdate,
    Rename,
    Retag,
    Split,
    SplitPart,
)

Parse = Callable[[str, str], Result[Any, Error]]
NONCE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def envelope(**members: Any) -> str:
    return json.dumps({"version": 1, "nonce": NONCE, **members})


def accepted(text: str) -> ChangeSet:
    change_set: ChangeSet = parse_reply(text, NONCE).unwrap()
    return change_set


def proposed(text: str) -> DefragProposal:
    proposal: DefragProposal = parse_defrag_reply(text, NONCE).unwrap()
    return proposal


def refused(text: str, parse: Parse = parse_reply) -> str:
    error = parse(text, NONCE).failure()
    assert isinstance(error, ReplyRefused)
    assert error.reasons
    return "; ".join(error.reasons)


def reasons_of(parsed: ChangeSet | DefragProposal) -> str:
    return "; ".join(reason for each in parsed.dropped for reason in each.reasons)


ENTRY = {
    "title": "Bun tests are flaky",
    "body": "Use `bun test --rerun 2` in CI.",
    "kind": "lesson",
    "tags": ["topic__bun"],
}


GOOD = envelope(entries=[ENTRY])


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
    assert reason in reasons_of(accepted(envelope(entries=[ENTRY], updates=[update])))


def test_a_reply_of_which_nothing_is_left_is_refused() -> None:
    assert "holds no entries" in refused(envelope(entries=[], updates=[]))
    assert "holds no entries" in refused(envelope(skipped="  "))
    assert "body is missing" in refused(envelope(entries=[{"title": "x"}], skipped="the rest was small talk"))


def test_a_ref_given_twice_means_the_first() -> None:
    entries = accepted(envelope(entries=[{**ENTRY, "ref": "a"}, {**ENTRY, "ref": "a"}])).entries
    assert [entry.ref for entry in entries] == ["a", None]


# -- defrag -----------------------------------------------------------------------------------------------------------

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
MERGE = {"action": "merge", "ids": [A, B], "title": "Ports", "body": "8080 and 9090"}
PART = {"title": "Part", "body": "text"}
RENAME = {"action": "rename", "id": C, "title": "Better"}
EDIT = {"action": "edit", "id": A, "find": "8080", "replace": "9090"}
GOOD_PROPOSAL = envelope(actions=[RENAME], tiers={"hot": [A], "warm": [B]})


def test_every_member_of_every_action_is_read() -> None:
    actions = [
        {**MERGE, "description": "Where", "tags": ["topic__x"], "drops": ["7070"]},
        {
            "action": "split",
            "id": C,
            "into": [{**PART, "description": "One", "tags": ["topic__y"]}, {**PART, "title": "Other"}],
        },
        RENAME,
        {"action": "retag", "id": C, "tags": ["topic__x"]},
        {**EDIT, "drops": ["8080"]},
        {"action": "archive", "id": B, "reason": "Replaced by the other"},
    ]
    assert proposed(envelope(actions=actions)) == DefragProposal(
        (
            Merge((A, B), "Ports", "8080 and 9090", "Where", ("topic__x",), ("7070",)),
            Split(C, (SplitPart("Part", "text", "One", ("topic__y",)), SplitPart("Other", "text"))),
            Rename(C, "Better"),
            Retag(C, ("topic__x",)),
            Edit(A, "8080", "9090", ("8080",)),
            Archive(B, "Replaced by the other"),
        )
    )


@pytest.mark.parametrize("members", [{}, {"actions": None}, {"tiers": {"hot": [], "warm": []}}, {"entries": []}])
def test_a_reply_without_actions_and_tiers_is_refused(members: dict[str, Any]) -> None:
    assert "holds no actions and no tiers" in refused(envelope(**members), parse_defrag_reply)


def test_a_proposal_of_which_nothing_is_left_is_refused() -> None:
    actions = [{"action": "delete", "id": A}, {**MERGE, "ids": [A, A]}]
    said = refused(envelope(actions=actions, tiers={"hot": [], "warm": []}), parse_defrag_reply)
    assert "actions[0].action is 'delete', expected one of merge, split, rename, retag, edit, archive" in said
    assert f"merge of {A}: actions[1].ids names fewer than two different notes" in said
    assert refused(envelope(actions=[], tiers={"hot": ["x"], "warm": []}), parse_defrag_reply)


def test_an_id_stands_once_in_the_tiers_and_in_the_nearer() -> None:
    tiers = {"hot": [A, B, A], "warm": [C, B, C]}
    assert proposed(envelope(actions=[], tiers=tiers)).tiers == TierList((A, B), (C,))


def test_tiers_that_list_nothing_say_nothing() -> None:
    """An agent that copies the shape of the reply does not mean to empty every AGENTS.md."""
    proposal = proposed(envelope(actions=[RENAME], tiers={"hot": [], "warm": []}))
    assert proposal == DefragProposal((Rename(C, "Better"),))


def test_what_is_no_id_in_the_tiers_is_dropped_with_its_place() -> None:
    tiers = {"hot": [A, "../x", f"{B} (Ports)"], "warm": [7, None, *["x"] * 9, C]}
    proposal = proposed(envelope(tiers=tiers))
    assert proposal.tiers == TierList((A,), (C,))
    (dropped,) = proposal.dropped
    assert dropped.subject == "tiers"
    assert dropped.reasons[0] == "tiers.hot[1] is '../x', expected an id like id__a1b2c3"
    assert dropped.reasons[2:4] == (
        "tiers.warm[0] is 7, expected an id like id__a1b2c3",
        "tiers.warm[1] is null, expected an id like id__a1b2c3",
    )
    assert dropped.reasons[-1] == "and 8 more"


@pytest.mark.parametrize(
    ("tiers", "reason"),
    [
        ([A], "tiers is a list, expected an object"),
        ("hot", "tiers is 'hot', expected an object"),
        ({"hot": [A]}, "tiers.warm is missing"),
        ({"hot": A, "warm": []}, f"tiers.hot is '{A}', expected a list"),
        ({"hot": [A], "warm": [], "cold": [B]}, "tiers.cold is unknown, expected hot, warm"),
        ({"hot": [A] * (MAX_TIER_IDS + 1), "warm": []}, "at most 10,000 are allowed"),
    ],
)
def test_tiers_of_another_shape_are_dropped_and_the_actions_stay(tiers: Any, reason: str) -> None:
    proposal = proposed(envelope(actions=[RENAME], tiers=tiers))
    assert (proposal.actions, proposal.tiers) == ((Rename(C, "Better"),), None)
    assert reason in reasons_of(proposal)
    assert reason in refused(envelope(actions=[], tiers=tiers), parse_defrag_reply)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("archive all", "actions[1] is 'archive all', expected an object"),
        ({"id": A}, "actions[1].action is missing"),
        ({**MERGE, "ids": A}, f"actions[1].ids is '{A}', expected a list"),
        ({**MERGE, "ids": [A, [B]]}, "actions[1].ids[1] is a list, expected text"),
        ({**MERGE, "body": " \n"}, "actions[1].body is empty"),
        ({**MERGE, "pinned": True}, "actions[1].pinned is unknown"),
        ({"action": "split", "id": A, "into": []}, "actions[1].into has 0 items, expected 2 to 50"),
        ({"action": "split", "id": A, "into": {"0": PART}}, "actions[1].into is an object, expected a list"),
        ({"action": "split", "id": A, "into": [PART, "x"]}, "actions[1].into[1] is 'x', expected an object"),
        ({"action": "split", "id": A, "into": [PART, {**PART, "id": B}]}, "actions[1].into[1].id is unknown"),
        ({**RENAME, "status": "promoted"}, "actions[1].status is unknown"),
        ({"action": "retag", "id": A, "tags": [1]}, "actions[1].tags[0] is 1, expected text"),
        ({**EDIT, "replace": None}, "actions[1].replace is missing"),
        ({"action": "archive", "id": A}, "actions[1].reason is missing"),
    ],
)
def test_an_action_out_of_shape_is_dropped_with_its_reasons(action: Any, reason: str) -> None:
    proposal = proposed(envelope(actions=[RENAME, action]))
    assert proposal.actions == (Rename(C, "Better"),)
    assert reason in reasons_of(proposal)


def test_the_same_action_again_is_dropped() -> None:
    proposal = proposed(envelope(actions=[RENAME, EDIT, RENAME, {**RENAME, "title": "Another"}]))
    assert proposal.actions == (Rename(C, "Better"), Edit(A, "8080", "9090"), Rename(C, "Another"))
    assert [(each.subject, each.reasons) for each in proposal.dropped] == [
        (f"rename of {C}", ("it stands in the reply twice",))
    ]


# -- what holds for both ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("parse", "good"), [(parse_reply, GOOD), (parse_defrag_reply, GOOD_PROPOSAL)])
def test_a_cut_reply_is_never_completed(parse: Parse, good: str) -> None:
    for length in range(len(good)):
        refused(good[:length], parse)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
    | st.sampled_from([A, B]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys((*ENTRY, "ref", "turns", "links", "confidence", "id", "drops"), JSON_VALUES)
)
ACTIONS = st.fixed_dictionaries(
    {"action": st.sampled_from(["merge", "split", "rename", "retag", "edit", "archive"]) | JSON_VALUES},
    optional=dict.fromkeys(("id", "ids", "into", "title", "body", "tags", "find", "replace", "reason"), JSON_VALUES),
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


@given(st.lists(ACTIONS | JSON_VALUES, max_size=4) | JSON_VALUES, JSON_VALUES, st.text(max_size=20))
def test_any_json_is_a_proposal_or_refused_and_never_crashes(actions: Any, tiers: Any, around: str) -> None:
    result = parse_defrag_reply(around + envelope(actions=actions, tiers=tiers) + around, NONCE)
    if isinstance(result, Success):
        proposal = result.unwrap()
        items = len(actions) if isinstance(actions, list) else 0
        assert len(proposal.actions) <= items
        assert proposal.dropped or len(proposal.actions) == items
