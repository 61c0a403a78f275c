"""Records of runs without what was forgotten (P28), whatever a damaged one holds where lists are expected."""

from __future__ import annotations

import json

import pytest
from returns.result import Failure, Success

from agent_memory.domain.forgetting.trace_words import FORGOTTEN, TraceWords
from agent_memory.errors import StateCorrupt
from agent_memory.formats.forgetful_json import forgetful_report

WORDS = TraceWords(frozenset(("id__abc123",)), "session-1", frozenset(), ())
REPORT = {
    "sessions": [{"session": "session-1", "outcome": {"dropped": ["deploys run at night"]}}, {"session": "session-2"}],
    "actions": [{"ids": ["id__abc123"], "words": "merged two notes"}, {"ids": ["id__zzz999"], "words": "renamed"}],
    "message": "deploys run at night",
}


def cleaned(report: object) -> object:
    found = forgetful_report(json.dumps(report).encode(), WORDS, "runs/1/report.json")
    return json.loads(found.unwrap())


def test_the_session_and_what_the_report_says_of_it_go() -> None:
    assert cleaned(REPORT) == {
        "sessions": [{"session": "session-2"}],
        "actions": [{"ids": ["id__abc123"], "words": FORGOTTEN}, {"ids": ["id__zzz999"], "words": "renamed"}],
        "message": FORGOTTEN,
    }


@pytest.mark.parametrize("damage", [5, "x", True, None, {"a": 1}])
@pytest.mark.parametrize("key", ["sessions", "actions"])
def test_what_is_no_list_where_one_belongs_stays_as_it_is(key: str, damage: object) -> None:
    report = {"sessions": [], "actions": [], key: damage}
    assert cleaned(report) == report


@pytest.mark.parametrize("damage", [5, "x", {"a": 1}])
def test_ids_and_dropped_texts_that_are_no_lists_name_nothing(damage: object) -> None:
    report = {
        "sessions": [{"session": "session-1", "outcome": {"dropped": damage}}],
        "actions": [{"ids": damage, "newIds": damage, "words": "merged"}],
    }
    assert cleaned(report) == {"sessions": [], "actions": report["actions"]}


def test_a_report_that_does_not_tell_of_it_keeps_its_bytes() -> None:
    data = b'{"sessions":   [], "actions": 7}'
    assert forgetful_report(data, WORDS, "r") == Success(data)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_report_is_named_as_such(data: bytes) -> None:
    match forgetful_report(data, WORDS, "r"):
        case Failure(StateCorrupt(path="r")):
            return
        case other:
            pytest.fail(f"{other} is no StateCorrupt")
