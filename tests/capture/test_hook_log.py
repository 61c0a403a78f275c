from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from agent_memory.capture.hook_files import LOG_NAME, MAX_LOG_BYTES, PREVIOUS_LOG_NAME, log_hook_problem
from faults import failing_at


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def log_at(home: Path) -> Path:
    return home / ".local" / "state" / "agent-memory" / LOG_NAME


def test_the_log_is_its_owners_even_where_the_umask_takes_all_p22(home: Path) -> None:
    before = os.umask(0o777)
    try:
        log_hook_problem(str(home), "/r", None, "payload", "x")
    finally:
        os.umask(before)
    log = log_at(home)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_the_log_is_bounded_and_keeps_the_newest(home: Path) -> None:
    for number in range(2_000):
        log_hook_problem(str(home), "/r", None, "payload", f"{number} " + "x" * 200)
    log = log_at(home)
    assert sorted(path.name for path in log.parent.iterdir()) == [LOG_NAME, PREVIOUS_LOG_NAME]
    assert all(path.stat().st_size <= MAX_LOG_BYTES for path in log.parent.iterdir())
    assert lines(log)[-1]["message"].startswith("1999 ")


def test_a_log_that_is_a_link_or_a_pipe_is_not_written_through_p21(home: Path, tmp_path: Path) -> None:
    log = log_at(home)
    log.parent.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    log.symlink_to(victim)
    log_hook_problem(str(home), str(tmp_path / "r"), None, "payload", "x")
    assert victim.read_text() == "mine"
    log.unlink()
    os.mkfifo(log)
    log_hook_problem(str(home), str(tmp_path / "r"), None, "payload", "x")
    assert len(lines(tmp_path / "r" / ".cache" / LOG_NAME)) == 2


def test_a_full_disk_is_survived_in_silence_p5(tmp_path: Path) -> None:
    for k in range(1, 30):
        with failing_at(k, errno.ENOSPC, once=False):
            log_hook_problem(str(tmp_path / "h"), str(tmp_path / "r"), None, "payload", "x")
    log_hook_problem(str(tmp_path / "h"), "/r", None, "payload", "afterwards")
    assert lines(log_at(tmp_path / "h"))[-1]["message"] == "afterwards"


def test_a_line_cut_short_spoils_no_other_p5(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "r"
    log_hook_problem(str(home), str(root), None, "payload", "first")
    really_write, cut = os.write, [True]

    def write(descriptor: int, data: bytes) -> int:
        return really_write(descriptor, data[: len(data) // 2] if cut and cut.pop() else data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        log_hook_problem(str(home), str(root), None, "payload", "second")
    log_hook_problem(str(home), str(root), None, "payload", "third")
    texts = log_at(home).read_text().splitlines()
    assert [json.loads(each)["message"] for each in (texts[0], texts[-1])] == ["first", "third"]
    assert len(texts) == 3
    assert [each["message"] for each in lines(root / ".cache" / LOG_NAME)] == ["second"]
