"""P6: a look of a moment ago serves again only where every name still stands for the same file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_memory.adapters.disk.directory_state import directory_state, look_through
from agent_memory.adapters.store import shelf_looks
from agent_memory.adapters.store.shelf_looks import ShelfLooks
from agent_memory.adapters.store.shelf_names import ShelfLook

_LONGER_THAN_A_TICK_SECONDS = 0.03


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics"
    path.mkdir()
    for name in ("a.md", "b.md"):
        (path / name).write_text(name)
    time.sleep(_LONGER_THAN_A_TICK_SECONDS)
    return path


@pytest.fixture
def looks(topics: Path) -> ShelfLooks:
    return ShelfLooks(str(topics.parent))


def _look(looks: ShelfLooks, *, lately: bool = True) -> ShelfLook:
    return looks.look("topics", lately=lately).unwrap()


def _edit_in_place(topics: Path) -> None:
    (topics / "a.md").write_text("another text")


def _replace(topics: Path) -> None:
    (topics / "new").write_text("another text")
    os.replace(topics / "new", topics / "a.md")


def _exchange(topics: Path) -> None:
    os.rename(topics / "a.md", topics / "c")
    os.rename(topics / "b.md", topics / "a.md")
    os.rename(topics / "c", topics / "b.md")


_OF_NAMES: list[Callable[[Path], object]] = [
    lambda topics: (topics / "c.md").write_text("new"),
    lambda topics: (topics / "a.md").unlink(),
    lambda topics: (topics / "a.md").rename(topics / "c.md"),
    lambda topics: (topics / "c.md").mkdir(),
    lambda topics: topics.rename(topics.parent / "away"),
    _replace,
    _exchange,
]


@pytest.mark.parametrize(
    "change", _OF_NAMES, ids=["new", "gone", "renamed", "directory", "away", "replaced", "exchanged"]
)
def test_whatever_becomes_of_a_name_is_seen(looks: ShelfLooks, topics: Path, change: Callable[[Path], object]) -> None:
    before = _look(looks)
    assert _look(looks) is before
    change(topics)
    now = _look(looks)
    assert now == ShelfLooks(str(topics.parent)).look("topics").unwrap()
    assert now != before
    assert sorted(looks.names("topics").unwrap()) == sorted(os.listdir(topics) if topics.exists() else [])


def test_what_is_edited_in_place_is_seen_by_who_does_not_say_lately(looks: ShelfLooks, topics: Path) -> None:
    before = _look(looks)
    _edit_in_place(topics)
    assert _look(looks) is before
    assert _look(looks, lately=False) != before
    assert _look(looks) != before


def test_an_older_look_does_not_serve(looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _look(looks)
    _edit_in_place(topics)
    monkeypatch.setattr(shelf_looks, "LATELY_NS", -1)
    assert _look(looks) != before


def test_a_look_at_a_shelf_that_was_changed_just_now_does_not_serve(
    looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change could bear the same time."""
    touched_ns = topics.stat().st_mtime_ns
    monkeypatch.setattr(time, "time_ns", lambda: touched_ns + 1_000)
    before = _look(looks)
    assert before == _look(looks)
    assert before is not _look(looks)


def test_a_shelf_that_is_not_there_is_empty_until_it_comes(tmp_path: Path) -> None:
    looks = ShelfLooks(str(tmp_path))
    assert _look(looks) == ShelfLook({}, ())
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "a.md").write_text("a")
    assert list(_look(looks).files) == ["topics/a.md"]


def test_names_are_those_that_are_there_after_a_look_and_without_one(looks: ShelfLooks, topics: Path) -> None:
    (topics / "other.txt").write_text("no note")
    assert sorted(looks.names("topics").unwrap()) == ["a.md", "b.md", "other.txt"]
    _look(looks)
    assert sorted(looks.names("topics").unwrap()) == ["a.md", "b.md", "other.txt"]


def test_its_state_is_that_of_the_directory(looks: ShelfLooks, topics: Path) -> None:
    (topics / "other.txt").write_text("no note")
    (topics / ".hidden.md").write_text("of another program")
    (topics / "directory.md").mkdir()
    (topics / "link.md").symlink_to("a.md")
    before = _look(looks).state
    assert before == directory_state(str(topics))[0]
    (topics / "other.txt").write_text("still no note")
    assert _look(looks, lately=False).state == directory_state(str(topics))[0] != before
    assert looks.look("archive").unwrap().state == directory_state(str(topics.parent / "archive"))[0]


def test_a_shelf_of_which_something_cannot_be_looked_at_has_no_state(
    topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unseen:
        def __init__(self, entry: os.DirEntry[str]) -> None:
            self.name, self.is_dir, self._entry = entry.name, entry.is_dir, entry

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            if self.name == "a.md":
                raise PermissionError
            return self._entry.stat(follow_symlinks=follow_symlinks)

    really_scan = os.scandir

    @contextmanager
    def scan(path: int) -> Iterator[Iterator[Unseen]]:
        with really_scan(path) as found:
            yield map(Unseen, found)

    monkeypatch.setattr(os, "scandir", scan)
    look = _look(ShelfLooks(str(topics.parent)))
    assert look.state is None
    assert list(look.files) == ["topics/b.md"]


def test_a_look_that_the_caller_has_taken_serves_once_and_only_while_every_name_stands_for_the_same_file(
    looks: ShelfLooks, topics: Path
) -> None:
    seen = look_through(str(topics))
    looks.take("topics", seen)
    _edit_in_place(topics)
    first = _look(looks, lately=False)
    assert list(first.files.values()) == seen.looks
    assert _look(looks, lately=False) != first
    looks.take("topics", seen)
    _replace(topics)
    assert _look(looks, lately=False) == ShelfLooks(str(topics.parent)).look("topics").unwrap()


def test_the_last_look_is_told_with_what_was_written_here_since(
    looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looks.last("topics") is None
    before = _look(looks)
    (topics / "c.md").write_text("c")
    looks.wrote(["topics/c.md", "archive/c.md", "topics/deeper/c.md"])
    assert looks.last("topics") == (before, frozenset({"topics/c.md"}))
    assert sorted(_look(looks).files) == ["topics/a.md", "topics/b.md", "topics/c.md"]
    assert looks.last("topics") == (_look(looks), frozenset())
    monkeypatch.setattr(shelf_looks, "LATELY_NS", -1)
    assert looks.last("topics") is None
