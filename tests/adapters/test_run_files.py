"""Files of all runs: what cannot be looked at is never taken for missing (P6)."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.records.run_files import DefragRecordsFiles, RunRecordsFiles, runs_with
from agent_memory.domain.run import KeptReply
from agent_memory.errors import StoreIo
from faults import failing_at
from stand_ins.dict_clock import DictClock

FIRST, SECOND = "2026-02-13T14-30-05.123Z_3dbfbe", "2026-02-14T14-30-05.123Z_4dbfbe"
REFUSED = (errno.EACCES, errno.EIO)


def test_the_file_of_each_run_that_has_it_oldest_first(tmp_path: Path) -> None:
    assert runs_with(str(tmp_path), "a.json") == []
    for run in (SECOND, FIRST):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / "a.json").touch()
    (tmp_path / "runs" / "a.json").touch()
    (tmp_path / "runs" / "empty").mkdir()
    assert runs_with(str(tmp_path), "a.json") == [f"runs/{run}/a.json" for run in (FIRST, SECOND)]
    assert runs_with(str(tmp_path), "replies/a.json") == []


@pytest.mark.parametrize("number", REFUSED)
@pytest.mark.parametrize("call", [1, 2])
def test_that_nobody_may_look_is_an_error(tmp_path: Path, number: int, call: int) -> None:
    (tmp_path / "runs" / FIRST).mkdir(parents=True)
    with failing_at(call, number, once=True), pytest.raises(StoreIo):
        runs_with(str(tmp_path), "a.json")


@pytest.mark.parametrize("number", REFUSED)
def test_a_reply_that_was_paid_for_is_not_missing_because_nobody_may_look(tmp_path: Path, number: int) -> None:
    replies = RunRecordsFiles(tmp_path, DictClock())
    reply = KeptReply("{}", "nonce", "0" * 64, {})
    replies.keep_reply(FIRST, "key", reply).unwrap()
    assert replies.find_reply("key").unwrap() is not None
    with failing_at(1, number, once=True):
        assert isinstance(replies.find_reply("key").failure(), StoreIo)
    with failing_at(1, number, once=True):
        assert isinstance(replies.drop_reply("key").failure(), StoreIo)
    assert replies.find_reply("key").unwrap() is not None


@pytest.mark.parametrize("number", REFUSED)
def test_a_checkpoint_is_not_missing_because_nobody_may_look(tmp_path: Path, number: int) -> None:
    (tmp_path / "runs" / FIRST).mkdir(parents=True)
    for records in (RunRecordsFiles(tmp_path, DictClock()), DefragRecordsFiles(tmp_path, DictClock())):
        with failing_at(1, number, once=True):
            assert isinstance(records.unfinished(), Failure)
        with failing_at(1, number, once=True):
            assert isinstance(records.put_deferred(()), Failure)
        assert records.put_deferred(()) == Success(None)
        assert records.unfinished() == Success(None)
