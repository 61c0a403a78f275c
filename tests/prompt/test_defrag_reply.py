"""P9: only a whole envelope with its nonce is progress, for defrag too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from returns.result import Success

from agent_memory.note.note import TierList
from agent_memory.prompt.reply import MAX_TIER_IDS, parse_defrag_reply
from agent_memory.rules.plan import Archive, DefragProposal, Edit, Merge, Rename, Retag, Split, SplitPart
from read_replies import NONCE, envelope, refused_by

A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
MERGE = {"action": "merge", "ids": [A, B], "title": "Ports", "body": "8080 and 9090"}
PART = {"title": "Part", "body": "text"}
RENAME = {"action": "rename", "id": C, "title": "Better"}
EDIT = {"action": "edit", "id": A, "find": "8080", "replace": "9090"}


GOOD = envelope(actions=[RENAME], tiers={"hot": [A], "warm": [B]})


def accepted(text: str) -> DefragProposal:
    result = parse_defrag_reply(text, NONCE)
    assert isinstance(result, Success), result
    proposal: DefragProposal = result.unwrap()
    return proposal


def refused(text: str) -> str:
    return refused_by(parse_defrag_reply, text)


def reasons_of(proposal: DefragProposal) -> str:
    return "; ".join(reason for each in proposal.dropped for reason in each.reasons)


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
    assert accepted(envelope(actions=actions)) == DefragProposal(
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
    assert "holds no actions and no tiers" in refused(envelope(**members))


def test_a_reply_of_which_nothing_is_left_is_refused() -> None:
    said = refused(
        envelope(actions=[{"action": "delete", "id": A}, {**MERGE, "ids": [A, A]}], tiers={"hot": [], "warm": []})
    )
    assert "actions[0].action is 'delete', expected one of merge, split, rename, retag, edit, archive" in said
    assert f"merge of {A}: actions[1].ids names fewer than two different notes" in said
    assert refused(envelope(actions=[], tiers={"hot": ["x"], "warm": []}))


def test_an_id_stands_once_in_the_tiers_and_in_the_nearer() -> None:
    tiers = {"hot": [A, B, A], "warm": [C, B, C]}
    assert accepted(envelope(actions=[], tiers=tiers)).tiers == TierList((A, B), (C,))


def test_tiers_that_list_nothing_say_nothing() -> None:
    """An agent that copies the shape of the reply does not mean to empty every AGENTS.md."""
    proposal = accepted(envelope(actions=[RENAME], tiers={"hot": [], "warm": []}))
    assert proposal == DefragProposal((Rename(C, "Better"),))


def test_what_is_no_id_in_the_tiers_is_dropped_with_its_place() -> None:
    tiers = {"hot": [A, "../x", f"{B} (Ports)"], "warm": [7, None, *["x"] * 9, C]}
    proposal = accepted(envelope(tiers=tiers))
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
    proposal = accepted(envelope(actions=[RENAME], tiers=tiers))
    assert (proposal.actions, proposal.tiers) == ((Rename(C, "Better"),), None)
    assert reason in reasons_of(proposal)
    assert reason in refused(envelope(actions=[], tiers=tiers))


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
    proposal = accepted(envelope(actions=[RENAME, action]))
    assert proposal.actions == (Rename(C, "Better"),)
    assert reason in reasons_of(proposal)


def test_the_same_action_again_is_dropped() -> None:
    proposal = accepted(envelope(actions=[RENAME, EDIT, RENAME, {**RENAME, "title": "Another"}]))
    assert proposal.actions == (Rename(C, "Better"), Edit(A, "8080", "9090"), Rename(C, "Another"))
    assert [(each.subject, each.reasons) for each in proposal.dropped] == [
        (f"rename of {C}", ("it stands in the reply twice",))
    ]


@given(st.integers(min_value=0, max_value=len(GOOD) - 1))
def test_a_cut_proposal_is_never_completed(length: int) -> None:
    refused(GOOD[:length])


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from([A, B]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ACTIONS = st.fixed_dictionaries(
    {"action": st.sampled_from(["merge", "split", "rename", "retag", "edit", "archive"]) | JSON_VALUES},
    optional=dict.fromkeys(("id", "ids", "into", "title", "body", "tags", "find", "replace", "reason"), JSON_VALUES),
)


@given(st.lists(ACTIONS | JSON_VALUES, max_size=4) | JSON_VALUES, JSON_VALUES, st.text(max_size=20))
def test_any_json_is_a_proposal_or_refused_and_never_crashes(actions: Any, tiers: Any, around: str) -> None:
    result = parse_defrag_reply(around + envelope(actions=actions, tiers=tiers) + around, NONCE)
    if isinstance(result, Success):
        proposal = result.unwrap()
        items = len(actions) if isinstance(actions, list) else 0
        assert len(proposal.actions) <= items
        assert proposal.dropped or len(proposal.actions) == items
