"""Replies that were paid for."""

from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.adapters.records.run_files import RunRecordsFiles
from agent_memory.domain.run import KeptReply
from stand_ins.dict_clock import DictClock

REPLY = KeptReply("the lamp is green", "n1", "0" * 64, {"id__a1b2c3": "1" * 64})


@pytest.fixture
def replies(tmp_path: Path) -> RunRecordsFiles:
    return RunRecordsFiles(tmp_path, DictClock())


def test_there_is_none_at_first(replies: RunRecordsFiles) -> None:
    assert replies.find_reply("key") == Success(None)
    assert replies.spend_reply("key") == Success(None)
    assert replies.drop_reply("key") == Success(None)


def test_what_is_kept_is_found_until_it_is_spent(replies: RunRecordsFiles) -> None:
    assert replies.keep_reply("run-1", "key", REPLY) == Success(None)
    assert replies.find_reply("key") == Success(REPLY)
    assert replies.find_reply("other") == Success(None)
    assert replies.spend_reply("key") == Success(None)
    assert replies.find_reply("key") == Success(None)


def test_what_is_dropped_is_found_no_more_and_others_are(replies: RunRecordsFiles) -> None:
    replies.keep_reply("run-1", "key", REPLY)
    replies.keep_reply("run-1", "other", REPLY)
    assert replies.drop_reply("key") == Success(None)
    assert replies.find_reply("key") == Success(None)
    assert replies.find_reply("other") == Success(REPLY)


@pytest.mark.parametrize("spent", [True, False])
def test_p28_nothing_of_a_dropped_reply_stays_on_disk(tmp_path: Path, spent: bool) -> None:
    replies = RunRecordsFiles(tmp_path, DictClock())
    replies.keep_reply("run-1", "key", REPLY)
    if spent:
        replies.spend_reply("key")
    assert [path for path in tmp_path.rglob("*") if path.is_file()], "positive control"
    assert replies.drop_reply("key") == Success(None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
