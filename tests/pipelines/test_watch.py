from __future__ import annotations

from collections.abc import Callable
from threading import Event
from types import SimpleNamespace
from typing import cast

import pytest
from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnreadable, StoreIo
from agent_memory.pipelines.backfill import Watching, WatchIo, watch
from agent_memory.session.found_session import FoundSession, Rest
from agent_memory.session.queue import InboxEntry
from pipelines.consolidate_world import NOON_MS
from pipelines.test_backfill import Past
from stand_ins.temporary import TemporaryInbox

REST = Rest(30_000, 180_000)
LIMIT = 1_000


@define
class Room:
    """A watch in which time passes as it waits; what happens at which second is said by the test."""

    past: Past = field(factory=Past)
    happenings: dict[int, Callable[[], None]] = field(factory=dict)
    seconds: float = 0
    ends_after_seconds: int = 400
    told: list[str] = field(factory=list)
    warned: list[str] = field(factory=list)
    handed_over: list[str] = field(factory=list)
    hand_over_error: Error | None = None
    waits: int = 0
    set_back_ms: int = 0

    def __attrs_post_init__(self) -> None:
        self.past.world.clock.at_ms = NOON_MS

    def at(self, second: int, happen: Callable[[], None]) -> None:
        self.happenings[second] = happen

    def says(self, second: int, session_id: str, *texts: str) -> None:
        self.at(second, lambda: self.past.session(session_id, *texts, at_ms=NOON_MS + second * 1000))

    def watch(self, rest: Rest = REST) -> Watching:
        return watch(self.io(), (), rest).unwrap()

    def io(self) -> WatchIo:
        stop = cast(Event, SimpleNamespace(wait=self._wait, is_set=lambda: self.seconds >= self.ends_after_seconds))
        return WatchIo(self.past.io(), stop, self._hand_over, self.told.append, self.warned.append)

    def _wait(self, seconds: float) -> None:
        self.waits += 1
        assert self.waits < LIMIT, "it must wait and not spin"
        step = min(max(seconds, 0.001), 2.0)
        for second in sorted(second for second in self.happenings if second <= self.seconds + step):
            self.happenings.pop(second)()
        self.seconds += step
        self.past.world.clock.at_ms = NOON_MS - self.set_back_ms + round(self.seconds * 1000)

    def _hand_over(self, found: FoundSession) -> Result[str | None, Error]:
        if self.hand_over_error is not None:
            return Failure(self.hand_over_error)
        self.handed_over.append(found.session_id)
        return Success("id__a1b2c3")

    def captured(self) -> list[str]:
        return [line.split()[3].rstrip(":") for line in self.told if " captured " in line]


@pytest.fixture
def room() -> Room:
    return Room()


def test_one_that_goes_on_and_on_is_captured_when_it_rests(room: Room) -> None:
    for second in range(10, 100, 20):
        room.says(second, "s1", *[f"turn {n}" for n in range(second)])
    done = room.watch()
    assert done.captured == 1
    assert len(room.past.waiting()) == 1


def test_a_clock_set_back_keeps_nothing_waiting_for_ever_p24(room: Room) -> None:
    room.says(10, "s1", "one")
    room.at(20, lambda: setattr(room, "set_back_ms", 10**9))
    assert room.watch() == Watching(captured=1, handed_over=1)


def test_what_waits_in_the_inbox_already_is_not_captured_again(room: Room) -> None:
    room.says(10, "s1", "one")
    room.says(100, "s1", "one", "two")
    assert room.watch().captured == 1


def test_what_was_consolidated_meanwhile_is_captured_again_when_it_goes_on(room: Room) -> None:
    room.says(10, "s1", "one")
    room.at(60, lambda: None if room.past.world.run().settled else pytest.fail("nothing was consolidated"))
    room.says(100, "s1", "one", "two")
    assert room.watch().captured == 2


def test_what_was_there_before_is_left_to_backfill_but_for_what_changed_just_before(room: Room) -> None:
    room.past.session("long-ago", "one", at_ms=NOON_MS - 900_000)
    room.past.session("just-now", "one", at_ms=NOON_MS - 70_000)  # its file changed ten seconds ago
    room.watch()
    assert room.captured() == ["just-now"]


def test_one_that_cannot_be_read_is_told_and_the_watch_goes_on(room: Room) -> None:
    room.at(10, lambda: room.past.put("odd", HistoryUnreadable("/t/odd", "no record in it"), NOON_MS))
    room.says(12, "s1", "one")
    done = room.watch()
    assert room.captured() == ["s1"]
    assert done.problems == tuple(room.warned)
    assert len(room.warned) == 1


def test_a_directory_that_cannot_be_listed_is_told_once_p6(room: Room) -> None:
    room.past.finder.errors.append(StoreIo("/t", "list", "EACCES", "Permission denied"))
    room.says(10, "s1", "one")
    done = room.watch()
    assert len(done.problems) == 1
    assert room.captured() == ["s1"]


def test_a_handoff_that_fails_is_told_and_the_watch_goes_on(room: Room) -> None:
    room.hand_over_error = StoreIo("topics", "write", "ENOSPC", "No space left on device")
    room.says(10, "s1", "one")
    done = room.watch()
    assert (done.captured, done.handed_over, len(done.problems)) == (1, 0, 1)


def test_a_capture_that_fails_is_told_and_the_watch_goes_on_p5(room: Room) -> None:
    class Full(TemporaryInbox):
        def put(self, entry: InboxEntry) -> Result[str, Error]:
            if "s1" in str(entry.retrieval):
                return Failure(StoreIo("inbox", "write to", "ENOSPC", "No space left on device"))
            return super().put(entry)

    room.past.world.inbox = Full()
    room.says(10, "s1", "one")
    room.says(12, "s2", "one")
    done = room.watch()
    assert room.captured() == ["s2"]
    assert (done.captured, len(done.problems)) == (1, 1)
    assert "claude-code s1" in done.problems[0]
