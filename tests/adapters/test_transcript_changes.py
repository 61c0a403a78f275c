from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer

import pytest

from agent_memory.adapters.harness import transcript_changes as module
from agent_memory.adapters.harness.transcript_changes import NotifiedChanges, poll, transcript_changes

LONG = 60.0


def test_without_the_library_the_directories_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIBRARY", "a_library_that_nobody_has")
    assert not isinstance(transcript_changes(Event(), ["/t"]), NotifiedChanges)


def test_waiting_ends_when_the_watch_ends() -> None:
    stop = Event()
    Timer(0.05, stop.set).start()
    poll(stop, LONG)
    assert stop.is_set()


class Library:
    """Stands for watchfiles: each turn is a set of changes, an empty one where none came in time."""

    def __init__(self, *turns: set[str]) -> None:
        self.turns = list(turns)
        self.watched: list[tuple[str, ...]] = []

    def watch(self, *directories: str, **_: object) -> Iterator[set[str]]:
        self.watched.append(directories)
        while self.turns:
            yield self.turns.pop(0)


def test_it_returns_at_the_first_change(tmp_path: Path) -> None:
    library = Library(set(), set(), {"changed"}, {"later"})
    wait = NotifiedChanges(Event(), [str(tmp_path)], library)
    wait(LONG)  # what changed before it was watched is for the look that comes next
    assert library.turns == [set(), {"changed"}, {"later"}]
    wait(LONG)
    assert library.turns == [{"later"}]
    assert library.watched == [(str(tmp_path),)]


def test_it_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    library = Library(*[set[str]() for _ in range(3)])
    wait = NotifiedChanges(Event(), [str(tmp_path)], library)
    wait(0)
    wait(0)
    assert len(library.turns) == 2


def test_directories_that_come_into_being_are_watched(tmp_path: Path) -> None:
    stop = Event()
    stop.set()  # so that looking does not take its time
    library = Library({"x"})
    wait = NotifiedChanges(stop, [str(tmp_path / "later"), str(tmp_path / "never")], library)
    wait(LONG)
    assert library.watched == []
    (tmp_path / "later").mkdir()
    wait(LONG)
    assert library.watched == [(str(tmp_path / "later"),)]


def test_the_library_itself_tells_what_changes(tmp_path: Path) -> None:
    library = pytest.importorskip("watchfiles")
    stop = Event()
    wait = NotifiedChanges(stop, [str(tmp_path)], library)
    wait(LONG)
    Timer(0.3, (tmp_path / "s1.jsonl").write_text, ("{}",)).start()
    began = time.monotonic()
    wait(LONG)
    assert time.monotonic() - began < LONG / 2
    assert (tmp_path / "s1.jsonl").exists()
    Timer(0.3, stop.set).start()
    wait(LONG)
    assert stop.is_set()
