"""What is ready to be injected, on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory.adapters.injecting import Shelf, keep_shelf, looks_of, read_shelf
from agent_memory.domain.injecting.assembling import Passage

SHELF = Shelf(
    (Passage("id__a1b2c3", "lessons", "### One\n\nWhole.", "- One"),), 2_000, {"mine": {"lessons": 100}}, 5_000
)
RESTED_NS = time.time_ns() + 86_400_000_000_000
"""Long after the notes were written, however long the run of all tests takes."""


def note(root: Path, name: str = "a -- id__a1b2c3.md", text: str = "One") -> Path:
    path = root / "topics" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kept(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> Shelf | None:
    return read_shelf(str(root), looks_of(str(root), place, others, version), 1_000)


def keep(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> None:
    keep_shelf(str(root), looks_of(str(root), place, others, version), SHELF, RESTED_NS)


def test_what_was_kept_is_read_back_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    note(tmp_path)
    assert kept(tmp_path) is None
    keep(tmp_path)
    shelf = kept(tmp_path)
    assert shelf is not None
    assert [each.values for each in shelf.passages] == [each.values for each in SHELF.passages]
    assert (shelf.budget, shelf.profiles, shelf.good_until_ms) == (2_000, {"mine": {"lessons": 100}}, 5_000)
    (file,) = (tmp_path / ".cache" / "inject").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parent.parent)] == [0o600, 0o700, 0o700]


def _rename(path: Path) -> None:
    path.rename(path.with_name("b -- id__a1b2c3.md"))


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("Two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        Path.unlink,
        _rename,
        _same_size_and_time,
        lambda path: path.write_text("Another text"),
        lambda path: path.with_name("c.md").write_text("New"),
        lambda path: path.chmod(0o640),
    ],
)
def test_any_change_of_a_note_is_seen(tmp_path: Path, change: Callable[[Path], object]) -> None:
    path = note(tmp_path)
    keep(tmp_path)
    assert kept(tmp_path) is not None
    time.sleep(0.02)
    change(path)
    assert kept(tmp_path) is None


def test_another_place_version_or_config_is_another_shelf(tmp_path: Path) -> None:
    note(tmp_path)
    config = tmp_path / "config.json"
    keep(tmp_path, others=(str(config),))
    assert kept(tmp_path, others=(str(config),)) is not None
    assert kept(tmp_path, "github.com/a/b", (str(config),)) is None
    assert kept(tmp_path, others=(str(config),), version="2") is None
    config.write_text("{}")
    assert kept(tmp_path, others=(str(config),)) is None


def test_it_is_not_kept_where_a_note_was_touched_just_before_it_was_read(tmp_path: Path) -> None:
    note(tmp_path)
    keep_shelf(str(tmp_path), looks_of(str(tmp_path), "global", (), "1"), SHELF, time.time_ns())
    assert kept(tmp_path) is None


def test_it_is_not_used_once_a_note_has_run_out(tmp_path: Path) -> None:
    note(tmp_path)
    keep(tmp_path)
    looks = looks_of(str(tmp_path), "global", (), "1")
    assert read_shelf(str(tmp_path), looks, 4_999) is not None
    assert read_shelf(str(tmp_path), looks, 5_000) is None
