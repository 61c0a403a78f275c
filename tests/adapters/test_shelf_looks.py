"""P6: a look of a moment ago serves again only where every name still stands for the same file."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from stat import S_ISDIR

import pytest

from agent_memory.adapters.disk.directory_state import look_through, whole_look
from agent_memory.adapters.store import shelf_looks
from agent_memory.adapters.store.shelf_looks import LATELY_NS, ShelfLooks
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


@pytest.mark.parametrize("grain_ns", [4_000_000, 1_000_000_000, 2_000_000_000])
def test_a_look_in_the_tick_of_a_change_serves_nobody_once_it_has_passed(
    looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch, grain_ns: int
) -> None:
    """The next change bears the same time, and shows in nothing that the directory is known by."""
    changed_ns = topics.stat().st_mtime_ns // grain_ns * grain_ns
    for name in ("lstat", "fstat"):
        monkeypatch.setattr(os, name, partial(_touched_at, changed_ns, getattr(os, name)))
    monkeypatch.setattr(time, "time_ns", lambda: changed_ns + grain_ns // 2)
    seen = look_through(str(topics))
    (topics / "c.md").write_text("in the same tick")
    monkeypatch.setattr(time, "time_ns", lambda: changed_ns + 10_000_000_000)
    looks.take("topics", seen)
    assert "topics/c.md" in _look(looks, lately=False).files
    assert "topics/c.md" in _look(looks).files


def _touched_at(changed_ns: int, really_look: Callable[..., os.stat_result], path: object) -> os.stat_result:
    status = really_look(path)
    times = {"st_mtime_ns": changed_ns, "st_ctime_ns": changed_ns}
    return os.stat_result(status, times) if S_ISDIR(status.st_mode) else status


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
    assert before == whole_look(str(topics)).state
    (topics / "other.txt").write_text("still no note")
    assert _look(looks, lately=False).state == whole_look(str(topics)).state != before
    assert looks.look("archive").unwrap().state == whole_look(str(topics.parent / "archive")).state


class _Unseen:
    """What `scandir` finds where not everything can be looked at, and the disk tells no kinds (DT_UNKNOWN)."""

    def __init__(self, directory: int, unseen: str, kind: bool | OSError, entry: os.DirEntry[str]) -> None:
        self.name, self._directory, self._unseen, self._kind, self._entry = entry.name, directory, unseen, kind, entry

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        if self.name == self._unseen:
            raise PermissionError
        return self._entry.stat(follow_symlinks=follow_symlinks)

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        os.fstat(self._directory)  # EBADF once it is closed
        if isinstance(self._kind, OSError):
            raise self._kind
        return self._kind


def _not_seeing(monkeypatch: pytest.MonkeyPatch, unseen: str, kind: bool | OSError = False) -> None:
    really_scan = os.scandir

    @contextmanager
    def scan(directory: int) -> Generator[Iterator[_Unseen]]:
        with really_scan(directory) as found:
            yield map(partial(_Unseen, directory, unseen, kind), found)

    monkeypatch.setattr(os, "scandir", scan)


def test_a_shelf_of_which_something_cannot_be_looked_at_has_no_state(
    looks: ShelfLooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    _not_seeing(monkeypatch, "a.md")
    look = _look(looks)
    assert look.state is None
    assert list(look.files) == ["topics/b.md"]


@pytest.mark.parametrize(("kind", "is_directory"), [(True, True), (False, False), (OSError(errno.EIO, "EIO"), True)])
def test_what_cannot_be_looked_at_may_be_a_directory_and_hides_nothing_else_p6(
    looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch, kind: bool | OSError, is_directory: bool
) -> None:
    (topics / "deeper").touch()
    _not_seeing(monkeypatch, "deeper", kind)
    look = _look(looks)
    assert [(each.name, each.is_directory) for each in look.others] == [("deeper", is_directory)]
    assert sorted(look.files) == ["topics/a.md", "topics/b.md"]


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


def test_a_look_that_was_handed_over_is_as_old_as_it_is(
    looks: ShelfLooks, topics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 1_000_000_000_000
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns)
    seen = look_through(str(topics))
    _edit_in_place(topics)
    new = ShelfLooks(str(topics.parent)).look("topics").unwrap()
    now_ns += LATELY_NS
    looks.take("topics", seen)
    first = _look(looks, lately=False)
    assert first != new
    assert _look(looks) is first
    now_ns += 1
    assert looks.last("topics") is None
    assert _look(looks) == new
    looks.take("topics", seen)
    assert _look(looks, lately=False) == new


def test_a_look_that_was_handed_over_serves_the_next_look_or_none(looks: ShelfLooks, topics: Path) -> None:
    before = _look(looks)
    looks.take("topics", look_through(str(topics)))
    assert _look(looks) is before  # the kept one serves
    _edit_in_place(topics)
    assert _look(looks, lately=False) == ShelfLooks(str(topics.parent)).look("topics").unwrap() != before


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
