"""What tells one state of `topics/` from another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory.adapters.injecting import looks_of

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


CHANGES = (rewrite_in_place, rewrite_with_the_old_times, touch, add, remove, rename, swap_two, replace_all)


def key(directory: Path) -> bytes:
    return looks_of(str(directory.parent), "global", (), "1").key


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_another_state(directory: Path, change: Callable[[Path], None]) -> None:
    before = key(directory)
    assert key(directory) == before
    change(directory)
    assert key(directory) != before


def test_tells_when_the_last_file_was_touched(directory: Path) -> None:
    newest_ns = max(each.stat().st_ctime_ns for each in directory.iterdir())
    assert looks_of(str(directory.parent), "global", (), "1").touched_ns == newest_ns


def test_a_link_is_not_followed(directory: Path) -> None:
    directory.rename(directory.parent / "elsewhere")
    directory.symlink_to(directory.parent / "elsewhere")
    with pytest.raises(OSError, match="topics"):
        key(directory)
