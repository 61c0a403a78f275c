"""Records of runs without what was forgotten (P28), whatever a damaged one holds where lists are expected."""

from __future__ import annotations

import json

import pytest

from agent_memory.adapters.forgetting.forgetter import forgetful_commits, forgetful_report
from agent_memory.domain.forgetting import FORGOTTEN, TraceWords
from agent_memory.errors import StateCorrupt

WORDS = TraceWords(frozenset(("id__abc123",)), "session-1", frozenset(), ())
REPORT = {
    "sessions": [{"session": "session-1", "outcome": {"dropped": ["deploys run at night"]}}, {"session": "session-2"}],
    "actions": [{"ids": ["id__abc123"], "words": "merged two notes"}, {"ids": ["id__zzz999"], "words": "renamed"}],
    "message": "deploys run at night",
}


def cleaned(report: object) -> object:
    found = forgetful_report(json.dumps(report).encode(), WORDS)
    return json.loads(found)


def test_the_session_and_what_the_report_says_of_it_go() -> None:
    assert cleaned(REPORT) == {
        "sessions": [{"session": "session-2"}],
        "actions": [{"ids": ["id__abc123"], "words": FORGOTTEN}, {"ids": ["id__zzz999"], "words": "renamed"}],
        "message": FORGOTTEN,
    }


@pytest.mark.parametrize("damage", [5, "x", True, None, {"a": 1}])
def test_what_is_no_list_where_one_belongs_stays_as_it_is(damage: object) -> None:
    none: list[object] = []
    for report in ({"sessions": damage, "actions": none}, {"sessions": none, "actions": damage}):
        assert cleaned(report) == report
    session = {"session": "session-1", "outcome": {"dropped": damage}}
    actions = [{"ids": damage, "newIds": damage, "words": "merged"}, 5, "x", {"ids": ["id__zzz999"]}]
    assert cleaned({"sessions": [session], "actions": actions}) == {"sessions": [], "actions": actions}


def test_a_report_that_does_not_tell_of_it_keeps_its_bytes() -> None:
    data = b'{"sessions":   [], "actions": 7}'
    assert forgetful_report(data, WORDS) == data


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_report_is_named_as_such(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        forgetful_report(data, WORDS)


TITLED = TraceWords(frozenset(("id__abc123",)), None, frozenset(("Where the port listens",)), ())
DEBTS: list[dict[str, object]] = [
    {"paths": ["topics/x id__abc123.md"], "subject": "remember: a port", "body": "by hand", "thread_id": "s1"},
    {"paths": ["topics/y.md"], "subject": "remember: Where the port listens", "body": "", "thread_id": None},
    {"paths": ["topics/z.md"], "subject": "remember: tea", "body": "green", "thread_id": "s2"},
]


def test_a_commit_that_is_owed_keeps_its_paths_and_says_nothing() -> None:
    silent: dict[str, object] = {"subject": FORGOTTEN, "body": "", "thread_id": None}
    found = json.loads(forgetful_commits(json.dumps(DEBTS).encode(), TITLED))
    assert found == [{**DEBTS[0], **silent}, {**DEBTS[1], **silent}, DEBTS[2]]


def test_debts_that_do_not_tell_of_it_keep_their_bytes() -> None:
    data = json.dumps(DEBTS[2:], indent=7).encode()
    assert forgetful_commits(data, TITLED) == data


@pytest.mark.parametrize("data", [b"", b"{}", b"[", b"\xff"])
def test_what_is_no_list_of_debts_is_named_as_such(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        forgetful_commits(data, TITLED)
