from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from returns.result import Success

from agent_memory.capture.inbox_files import TROUBLES_FORMAT, parse_inbox_entry, render_inbox_entry
from agent_memory.errors import InboxEntryInvalid, StateCorrupt
from agent_memory.note.note import Harness, Kind
from agent_memory.session.queue import AmpThread, Context, InboxEntry, InlineNote
from inbox_entries import AT_MS, entries

AMP: dict[str, Any] = {
    "version": 1,
    "timestamp": "2026-02-13T14:30:05.123Z",
    "harness": "amp",
    "retrieval": {"method": "amp-thread", "threadId": "T-5928a90d"},
    "context": {"cwd": "/home/me/p", "repo": "github.com/owner/repo", "branch": "main", "commit": "0" * 40},
}


def problems_of(document: object) -> tuple[str, ...]:
    text = document if isinstance(document, str) else json.dumps(document)
    refused = parse_inbox_entry(text).failure()
    assert isinstance(refused, InboxEntryInvalid)
    return refused.problems


def changed(**members: Any) -> dict[str, Any]:
    return {**AMP, **members}


def test_the_contracts_example_is_read() -> None:
    expected = InboxEntry(
        AT_MS,
        Harness.AMP,
        AmpThread("T-5928a90d"),
        Context(cwd="/home/me/p", repo="github.com/owner/repo", branch="main", commit="0" * 40),
    )
    assert parse_inbox_entry(json.dumps(AMP)) == Success(expected)


def test_what_is_rendered_has_the_contracts_keys_in_its_order() -> None:
    entry = InboxEntry(AT_MS, Harness.AMP, InlineNote("t", "b", ("topic__x",), Kind.LESSON, "T-1"))
    assert render_inbox_entry(entry) == (
        '{"version": 1, "timestamp": "2026-02-13T14:30:05.123Z", "harness": "amp", "retrieval": {"method": "inline", '
        '"title": "t", "body": "b", "tags": ["topic__x"], "kind": "lesson", "threadId": "T-1"}}\n'
    )


@given(entries())
@settings(max_examples=150)
def test_a_rendered_entry_reads_back_the_same(entry: InboxEntry) -> None:
    assert parse_inbox_entry(render_inbox_entry(entry)) == Success(entry)


@pytest.mark.parametrize("trouble", [3, {"attempts": "1"}, {"attempts": -1}, {"code": 1}, {"tries": 1}])
def test_damaged_trouble_is_never_none_p6(trouble: object) -> None:
    with pytest.raises(StateCorrupt) as refused:
        TROUBLES_FORMAT.parse(json.dumps({"version": 1, "troubles": {"k": trouble}}).encode(), "p")
    assert refused.value.problems[0].startswith("troubles.k")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (changed(version=2), "version is 2, expected 1"),
        (changed(timestamp="2026-02-30T00:00:00Z"), "timestamp is '2026-02-30T00:00:00Z'"),
        (changed(timestamp="0001-01-01T00:00:00Z"), "timestamp is '0001-01-01T00:00:00Z'"),
        (changed(harness="codex"), "harness is 'codex', but amp-thread belongs to amp"),
        (changed(retrieval={"method": "amp-thread"}), "retrieval.threadId is missing"),
        (changed(retrieval={"method": "amp-thread", "threadId": ""}), "retrieval.threadId is empty"),
        (changed(retrieval={"method": "amp-thread", "threadId": "a/../b"}), "expected letters, digits and"),
        (changed(retrieval={"method": "amp-thread", "threadId": "-rf"}), "expected a letter or digit first"),
        (changed(retrieval={"method": "amp-thread", "threadId": "T\u0000"}), "holds the control character U+0000"),
        (changed(retrieval={"method": "amp-thread", "threadId": "x" * 201}), "has 201 characters, at most 200"),
        (changed(retrieval={"method": "amp-thread", "threadId": "T", "sessionId": "x"}), "sessionId is unknown"),
        (changed(context={"cwd": "/a\x1b[31m"}), "context.cwd holds the control character U+001B"),
        (changed(context={"cwd": "/" + "é" * 3000}), "context.cwd has 6,001 bytes, at most 4,096"),
        (changed(context={"branch": "b\ud800"}), "context.branch holds half of a surrogate pair"),
        (
            changed(context={"event": "the user said hello"}),
            "context.event is 'the user said hello', expected one word",
        ),
        (changed(context={"commit": "HEAD"}), "context.commit is 'HEAD', expected 40 or 64 hexadecimal digits"),
    ],
)
def test_a_malformed_value_is_refused(document: object, problem: str) -> None:
    (found,) = problems_of(document)
    assert problem in found
