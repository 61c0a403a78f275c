"""Files of a run that are damaged are named as such, and never taken for a run with nothing to do (P6)."""

from __future__ import annotations

import json

import pytest
from returns.result import Success

from agent_memory.domain.change import Create, Retire
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.inbox_entry import InboxEntry, InlineNote
from agent_memory.domain.queue import Pending
from agent_memory.domain.run import KeptReply, Run, Work
from agent_memory.domain.vocabulary import Harness
from agent_memory.formats.run_json import (
    parse_changes,
    parse_checkpoint,
    parse_reply_record,
    render_changes,
    render_checkpoint,
    render_reply,
)

NOON_MS = 1_772_409_600_000
PENDING = Pending(InboxEntry(NOON_MS, Harness.MANUAL, InlineNote("Tea", "Green.")), "one.json", ("one.json",))
CHECKPOINT = render_checkpoint("write_entries", Run("run-1", NOON_MS, work=Work(PENDING)))
REPLY = render_reply(KeptReply("text", "nonce", "hash", {"id__aaaaaa": "h"}))
CHANGES = (Create(MemoryEntry(Meta("id__aaaaaa", "Tea", NOON_MS, NOON_MS), "Green.")), Retire("id__bbbbbb", "h"))
DAMAGED = ["", "{", "[]", "5", "null", "[" * 100_000]


def without(text: str, key: str) -> str:
    return json.dumps({name: value for name, value in json.loads(text).items() if name != key})


def test_what_was_written_is_read() -> None:
    state, run = parse_checkpoint(CHECKPOINT, "p").unwrap()
    assert (state, run.id, run.work, run.resumed) == ("write_entries", "run-1", Work(PENDING), True)
    assert parse_reply_record(REPLY, "p").unwrap().shown == {"id__aaaaaa": "h"}
    assert parse_changes(render_changes(CHANGES), "p") == Success(CHANGES)


@pytest.mark.parametrize("text", [*DAMAGED, without(CHECKPOINT, "run"), without(CHECKPOINT, "state")])
def test_a_damaged_checkpoint_is_named(text: str) -> None:
    error = parse_checkpoint(text, "runs/1/checkpoint.json").failure()
    assert (error.path, bool(error.problems)) == ("runs/1/checkpoint.json", True)


@pytest.mark.parametrize("text", [*DAMAGED, without(REPLY, "nonce"), REPLY.replace('"text"', "5")])
def test_a_damaged_reply_is_named(text: str) -> None:
    assert parse_reply_record(text, "replies/x.json").failure().path == "replies/x.json"


@pytest.mark.parametrize("text", [*DAMAGED, '{"changes": [{"act": "explode"}]}', '{"changes": 5}'])
def test_damaged_changes_are_named(text: str) -> None:
    assert parse_changes(text, "runs/deferred.json").failure().path == "runs/deferred.json"
