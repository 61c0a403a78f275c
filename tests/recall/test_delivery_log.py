"""What was delivered: the log on disk, and what a session knows by it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory.recall import delivery_log
from agent_memory.recall.delivery_log import (
    MAX_BYTES,
    RECOVERY_MS,
    SAME_MOMENT_MS,
    Delivery,
    DeliveryLog,
    known_ids,
    last_other_session,
)


def numbered(number: int, session: str = "s-1") -> Delivery:
    return Delivery(number, "codex", session, "prompt", (f"id__{number:06d}", "session:codex:x"), 7, "global")


def numbers(log: DeliveryLog, mentioning: str = "") -> list[int]:
    return [each.at_ms for each in log.deliveries(mentioning)]


def test_a_full_log_makes_room_and_keeps_what_came_before_once(tmp_path: Path) -> None:
    log = DeliveryLog(str(tmp_path))
    line_bytes = 150
    for number in range(2 * MAX_BYTES // line_bytes):
        log.append(numbered(number))
    directory = tmp_path / "runs" / "deliveries"
    assert {each.name for each in directory.iterdir()} == {"log.jsonl", "log.previous.jsonl"}
    assert all(each.stat().st_size <= MAX_BYTES for each in directory.iterdir())
    kept = numbers(log)
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert len(kept) * line_bytes > MAX_BYTES / 2


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00", b'{"at_ms": 1', b"[" * 100_000, b"null\n{}\n[]\n", b"\n\n"])
def test_damaged_lines_hide_no_other(tmp_path: Path, damage: bytes) -> None:
    log = DeliveryLog(str(tmp_path))
    log.append(numbered(1))
    path = tmp_path / "runs" / "deliveries" / "log.jsonl"
    path.write_bytes(path.read_bytes() + damage + b"\n")
    log.append(numbered(2))
    assert numbers(log) == [1, 2]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir])
def test_what_is_no_file_of_ours_is_neither_read_nor_written_p21(tmp_path: Path, make: object) -> None:
    assert callable(make)
    directory = tmp_path / "runs" / "deliveries"
    directory.mkdir(parents=True)
    make(directory / "log.jsonl")
    log = DeliveryLog(str(tmp_path))
    assert numbers(log) == []
    with pytest.raises(OSError, match=r".*"):
        log.append(numbered(1))


def test_who_holds_the_log_is_waited_for_p7(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_log, "LOCK_SECONDS", 0.1)
    script = (
        "import sys, time; from agent_memory.recall.delivery_log import DeliveryLog\n"
        "with DeliveryLog(sys.argv[1]):\n print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with DeliveryLog(str(tmp_path)) as log:  # after a while it goes on all the same
            log.append(numbered(1))
        holder.kill()
    with DeliveryLog(str(tmp_path)) as log:
        assert numbers(log) == [1]


def test_a_line_that_the_disk_cuts_short_spoils_no_other_p5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DeliveryLog(str(tmp_path))
    log.append(numbered(1))
    really_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: really_write(descriptor, data[: len(data) // 2]))
        with pytest.raises(OSError, match="only a part of the line"):
            log.append(numbered(2))
    log.append(numbered(3))
    assert numbers(log) == [1, 3]


# -- what a session knows by it --------------------------------------------------------------------------------


NOW = 2_000_000_000_000
MINUTE = 60_000


def given(at_ms: int, event: str = "prompt", *ids: str, session: str = "s-1", harness: str = "codex") -> Delivery:
    return Delivery(at_ms, harness, session, event, ids, 10 * len(ids), "global")


class TestKnown:
    def test_all_that_the_session_was_given_and_no_other(self) -> None:
        log = [given(1, "start", "a"), given(2, "prompt", "b"), given(3, "prompt", "c", session="s-2")]
        assert known_ids(log, "codex", "s-1", NOW) == dict.fromkeys(("a", "b"), True)
        assert known_ids(log, "claude-code", "s-1", NOW) == {}

    def test_a_compaction_takes_away_what_was_there(self) -> None:
        log = [given(1, "start", "a"), given(10 * MINUTE, "compact", "b"), given(11 * MINUTE, "prompt", "c")]
        assert known_ids(log, "codex", "s-1", NOW) == dict.fromkeys(("b", "c"), True)
        assert known_ids(log, "codex", "s-1", NOW, is_fresh=True) == {}

    def test_two_hooks_told_of_one_compaction_do_not_both_deliver(self) -> None:
        log = [given(1, "start", "a"), given(NOW - 500, "compact", "a", "b")]
        assert known_ids(log, "codex", "s-1", NOW, is_fresh=True) == dict.fromkeys(("a", "b"), True)
        again = [*log, given(NOW, "compact")]
        assert known_ids(again, "codex", "s-1", NOW + MINUTE) == dict.fromkeys(("a", "b"), True)
        assert known_ids(again, "codex", "s-1", NOW + SAME_MOMENT_MS + 1, is_fresh=True) == {}


def test_the_last_other_session_of_the_place_if_it_is_recent() -> None:
    log = [given(NOW - 5), given(NOW - 4, session="s-2"), given(NOW - 3, session="s-3"), given(NOW - 1)]
    last = last_other_session(log, "global", "s-1", NOW)
    assert last is not None
    assert last.session == "s-3"
    assert last_other_session(log, "elsewhere", "s-1", NOW) is None
    assert last_other_session(log, "global", "s-1", NOW + RECOVERY_MS) is None
