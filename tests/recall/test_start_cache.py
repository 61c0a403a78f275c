"""What is ready to be injected, on disk, and the log of what was."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory import app
from agent_memory.inject import prepare
from agent_memory.recall import delivery_log
from agent_memory.recall.assembling import Passage
from agent_memory.recall.delivery_log import MAX_BYTES, DeliveryLog
from agent_memory.recall.moment import Delivery
from agent_memory.recall.start_cache import Prepared, fingerprint_of, keep_cached, read_cached
from agent_memory.rules.drafts import NoteDraft
from faults import failing_on

SHELF = Prepared(
    (Passage("id__a1b2c3", "lessons", "### One\n\nWhole.", "- One"),), 2_000, {"mine": {"lessons": 100}}, 5_000
)
RESTED_NS = time.time_ns() + 86_400_000_000_000
"""Long after the notes were written, however long the run of all tests takes."""


def note(root: Path, name: str = "a -- id__a1b2c3.md", text: str = "One") -> Path:
    path = root / "topics" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kept(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> Prepared | None:
    return read_cached(str(root), fingerprint_of(str(root), place, others, version), 1_000)


def keep(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> None:
    keep_cached(str(root), fingerprint_of(str(root), place, others, version), SHELF, RESTED_NS)


def test_another_place_version_or_config_is_another_shelf(tmp_path: Path) -> None:
    note(tmp_path)
    config = tmp_path / "config.json"
    keep(tmp_path, others=(str(config),))
    assert kept(tmp_path, others=(str(config),)) is not None
    (file,) = (tmp_path / ".cache" / "inject").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]
    assert kept(tmp_path, "github.com/a/b", (str(config),)) is None
    assert kept(tmp_path, others=(str(config),), version="2") is None
    config.write_text("{}")
    assert kept(tmp_path, others=(str(config),)) is None


def test_it_is_not_kept_where_a_note_was_touched_just_before_it_was_read(tmp_path: Path) -> None:
    note(tmp_path)
    keep_cached(str(tmp_path), fingerprint_of(str(tmp_path), "global", (), "1"), SHELF, time.time_ns())
    assert kept(tmp_path) is None


def test_it_is_not_used_once_a_note_has_run_out(tmp_path: Path) -> None:
    note(tmp_path)
    keep(tmp_path)
    fingerprint = fingerprint_of(str(tmp_path), "global", (), "1")
    assert read_cached(str(tmp_path), fingerprint, 4_999) is not None
    assert read_cached(str(tmp_path), fingerprint, 5_000) is None


# -- what tells one state of `topics/` from another --------------------------------------------------------------------


LATER_NS = 2_000_000_000_000_000_000


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    topics = tmp_path / "topics"
    topics.mkdir()
    for name in ("a.md", "b.md"):
        (topics / name).write_text(name)
    os.utime(topics, ns=(1, 1))
    return topics


def rewrite_in_place(directory: Path) -> None:
    (directory / "a.md").write_text("else")


def rewrite_with_the_old_times(directory: Path) -> None:
    status = (directory / "a.md").stat()
    (directory / "a.md").write_text("b.md")
    os.utime(directory / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))


def touch(directory: Path) -> None:
    os.utime(directory / "a.md", ns=(LATER_NS, LATER_NS))


def add(directory: Path) -> None:
    (directory / "c.md").write_text("c")


def remove(directory: Path) -> None:
    (directory / "a.md").unlink()


def rename(directory: Path) -> None:
    (directory / "a.md").rename(directory / "c.md")


def swap_two(directory: Path) -> None:
    (directory / "a.md").rename(directory / "c.md")
    (directory / "b.md").rename(directory / "a.md")
    (directory / "c.md").rename(directory / "b.md")


def replace_all(directory: Path) -> None:
    directory.rename(directory.parent / "old")
    directory.mkdir()
    for name in ("a.md", "b.md"):
        (directory / name).write_text(name)


def chmod(directory: Path) -> None:
    (directory / "a.md").chmod(0o640)


CHANGES = (rewrite_in_place, chmod, rewrite_with_the_old_times, touch, add, remove, rename, swap_two, replace_all)


def key(directory: Path) -> bytes:
    return fingerprint_of(str(directory.parent), "global", (), "1").key


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_another_state(directory: Path, change: Callable[[Path], None]) -> None:
    before = key(directory)
    assert key(directory) == before
    change(directory)
    assert key(directory) != before


def test_a_link_is_not_followed(directory: Path) -> None:
    directory.rename(directory.parent / "elsewhere")
    directory.symlink_to(directory.parent / "elsewhere")
    with pytest.raises(OSError, match="topics"):
        key(directory)


# -- what cannot be read -----------------------------------------------------------------------------------------------


LATER_NS_PREPARED = 1 << 62
DRAFT = NoteDraft("Deploys run from main only; never from a branch.", title="Deploys")


def test_a_note_that_cannot_be_read_just_now_is_there_the_next_time_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    (note,) = (root / "topics").iterdir()
    whole = prepare(memory).unwrap()
    assert len(whole.passages) == 1
    for name in ("open", "lstat"):
        memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
        with failing_on(note.name, name):
            partial = prepare(memory).unwrap()
        assert name != "open" or not partial.passages
        fingerprint = fingerprint_of(str(root), "global", (), "1")
        keep_cached(str(root), fingerprint, partial, LATER_NS_PREPARED)
        assert (read_cached(str(root), fingerprint, 1) is None) == (len(partial.passages) < len(whole.passages))
    keep_cached(str(root), fingerprint, whole, LATER_NS_PREPARED)
    assert read_cached(str(root), fingerprint, 1) is not None


def test_nothing_is_kept_that_was_made_where_a_config_could_not_be_looked_at_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    config = root / "config.json"
    with failing_on("config.json", "stat"):
        fingerprint = fingerprint_of(str(root), "global", (str(config),), "1")
    keep_cached(str(root), fingerprint, prepare(memory).unwrap(), LATER_NS_PREPARED)
    assert read_cached(str(root), fingerprint, 1) is None
    absent = fingerprint_of(str(root), "global", (str(config),), "1")
    keep_cached(str(root), absent, prepare(memory).unwrap(), LATER_NS_PREPARED)
    assert read_cached(str(root), absent, 1) is not None


# -- the log of deliveries ---------------------------------------------------------------------------------------------


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


def test_who_holds_the_log_is_waited_for_and_its_end_lets_it_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P7"""
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
