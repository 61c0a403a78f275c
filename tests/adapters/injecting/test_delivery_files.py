"""The log of deliveries on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory.adapters.injecting import MAX_BYTES, DeliveryLog
from agent_memory.domain.injecting.moment import Delivery


def given(number: int, session: str = "s-1") -> Delivery:
    return Delivery(number, "codex", session, "prompt", (f"id__{number:06d}", "session:codex:x"), 7, "global")


def numbers(log: DeliveryLog, mentioning: str = "") -> list[int]:
    return [each.at_ms for each in log.deliveries(mentioning)]


def test_what_was_appended_is_read_back_in_order_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    os.umask(0)
    log = DeliveryLog(str(tmp_path))
    assert numbers(log) == []
    for number in range(3):
        log.append(given(number))
    assert numbers(log) == [0, 1, 2]
    assert [each.members for each in log.deliveries()][1] == given(1).members
    paths = (tmp_path / "runs" / "deliveries", tmp_path / "runs", tmp_path / "runs" / "deliveries" / "log.jsonl")
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o700, 0o700, 0o600]


def test_only_lines_that_name_the_session_are_looked_at(tmp_path: Path) -> None:
    log = DeliveryLog(str(tmp_path))
    for number, session in enumerate(("s-1", "s-2", "s-1")):
        log.append(given(number, session))
    assert numbers(log, "s-1") == [0, 2]


def test_a_full_log_makes_room_and_keeps_what_came_before_once(tmp_path: Path) -> None:
    log = DeliveryLog(str(tmp_path))
    line_bytes = 150
    for number in range(2 * MAX_BYTES // line_bytes):
        log.append(given(number))
    directory = tmp_path / "runs" / "deliveries"
    assert {each.name for each in directory.iterdir()} == {"log.jsonl", "log.previous.jsonl"}
    assert all(each.stat().st_size <= MAX_BYTES for each in directory.iterdir())
    kept = numbers(log)
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert len(kept) * line_bytes > MAX_BYTES / 2


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00", b'{"at_ms": 1', b"[" * 100_000, b"null\n{}\n[]\n", b"\n\n"])
def test_damaged_lines_hide_no_other(tmp_path: Path, damage: bytes) -> None:
    log = DeliveryLog(str(tmp_path))
    log.append(given(1))
    path = tmp_path / "runs" / "deliveries" / "log.jsonl"
    path.write_bytes(path.read_bytes() + damage + b"\n")
    log.append(given(2))
    assert numbers(log) == [1, 2]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir])
def test_what_is_no_file_of_ours_is_neither_read_nor_written(tmp_path: Path, make: object) -> None:
    """P21"""
    assert callable(make)
    directory = tmp_path / "runs" / "deliveries"
    directory.mkdir(parents=True)
    make(directory / "log.jsonl")
    log = DeliveryLog(str(tmp_path))
    assert numbers(log) == []
    with pytest.raises(OSError, match=r".*"):
        log.append(given(1))


def test_who_holds_the_log_is_waited_for_and_its_end_lets_it_go(tmp_path: Path) -> None:
    """P7"""
    script = (
        "import sys, time; from agent_memory.adapters.injecting import DeliveryLog\n"
        "with DeliveryLog(sys.argv[1]):\n print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with DeliveryLog(str(tmp_path)) as log:  # after a second it goes on all the same
            log.append(given(1))
        holder.kill()
    with DeliveryLog(str(tmp_path)) as log:
        assert numbers(log) == [1]


def test_a_line_that_the_disk_cuts_short_is_told_and_spoils_no_other_p5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = DeliveryLog(str(tmp_path))
    log.append(given(1))
    really_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: really_write(descriptor, data[: len(data) // 2]))
        with pytest.raises(OSError, match="only a part of the line"):
            log.append(given(2))
    log.append(given(3))
    assert numbers(log) == [1, 3]
