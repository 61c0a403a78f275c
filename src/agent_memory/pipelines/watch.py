"""The story of watch: transcripts that changed and then rested are captured, and handed over once they seem to have ended.

What was there before it began is backfill's, but for what changed just before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, frozen
from returns.result import Failure, Result

from agent_memory.domain.found_session import FoundSession, Rest, Sight, short_number
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import WATCH_EVENT
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error
from agent_memory.pipelines.backfill import BackfillIo, chosen_harnesses, look_at, looking_for, named, put_sighted
from agent_memory.results import as_result, unwrap, warning_of

MOST_PROBLEMS = 1_000
POLL_SECONDS = 2.0
_LONGEST_WAIT_SECONDS = 10.0
_A_PERSONS: tuple[Sight, ...] = ("new", "grown", "waiting", "done")
_LEFT_OUT = {"own-call": "memory's own call", "automated": "automated, without a person", "forgotten": "forgotten"}


@frozen
class WatchIo:
    """All that the story acts on."""

    backfill: BackfillIo
    wait: Callable[[float], None]
    """Returns after at most so many seconds, earlier when it is time to look again or the watch is to end."""
    is_stopped: Callable[[], bool]
    hand_over: Callable[[FoundSession], Result[str | None, Error]]
    """Write the handoff of a session that seems to have ended; the id of its note, None where there is nothing to hand
    over."""
    tell: Callable[[str], None]
    """One line about what was done."""
    warn: Callable[[str], None]


@define
class Watching:
    """What a watch has done."""

    captured: int = 0
    handed_over: int = 0
    problems: tuple[str, ...] = ()
    """The first `MOST_PROBLEMS`."""


@define
class _Watched:
    """One session that changed while it was watched."""

    found: FoundSession
    changed_at_ms: int
    """When the change was seen, by our own clock: the file's may be another machine's."""
    is_captured: bool = False
    is_ended: bool = False
    """It was handed over, or is nobody's to hand over."""


@as_result
def watch(io: WatchIo, harnesses: Sequence[Harness], rest: Rest) -> Watching:
    """What was done until the watch was ended. A session's trouble, and that of the disk, is told and the watch goes on:
    the session is due again at its next change, and backfill finds it in any case."""
    hint = "; `memory backfill {}` may find its past ones."
    chosen = chosen_harnesses(io.backfill, harnesses, "watched", hint)
    since_ms = io.backfill.clock.now_ms() - rest.debounce_ms
    # Whatever is set shorter, a session is captured before it is taken for ended.
    idle_ms = None if rest.idle_ms is None else max(rest.idle_ms, rest.debounce_ms)
    sessions: dict[tuple[Harness, str], _Watched] = {}
    done, last_trouble = Watching(), ""
    while not io.is_stopped():
        found, trouble = _found(io, chosen, since_ms)
        if trouble and trouble != last_trouble:  # a directory that cannot be listed cannot be listed every two seconds
            _note_problem(io, done, trouble)
        last_trouble = trouble
        now_ms = io.backfill.clock.now_ms()
        before, sessions = sessions, {}  # what is gone is watched no more
        for each in found:
            watched = before.get(each.key)
            if watched is None or watched.found.looks != each.looks:  # it has changed just now
                watched = _Watched(each, now_ms)
            watched.changed_at_ms = min(
                watched.changed_at_ms, now_ms
            )  # with a clock set back (P24) the rest begins anew
            sessions[each.key] = watched
        in_order = sorted(sessions.values(), key=lambda each: (each.changed_at_ms, each.found.key))
        for resting in in_order:
            if not resting.is_captured and resting.changed_at_ms + rest.debounce_ms <= now_ms:
                resting.is_captured = True
                _capture(io, resting, done)
        times = [each.changed_at_ms + rest.debounce_ms for each in in_order if not each.is_captured]
        for resting in in_order if idle_ms is not None else ():
            ends_at_ms = resting.changed_at_ms + (idle_ms or 0)
            if not resting.is_ended and ends_at_ms <= now_ms:
                resting.is_ended = True
                _hand_over(io, resting.found, done)
            elif not resting.is_ended:
                times.append(ends_at_ms)
        seconds = (min(times) - now_ms) / 1000 if times else _LONGEST_WAIT_SECONDS
        if not io.is_stopped():
            io.wait(min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS))
    return done


def _found(io: WatchIo, harnesses: Sequence[Harness], since_ms: int) -> tuple[list[FoundSession], str]:
    found: list[FoundSession] = []
    troubles: list[str] = []
    for harness in harnesses:
        for each in io.backfill.finders[harness].find(since_ms):
            if isinstance(each, Failure):
                troubles += warning_of(each)
            else:
                found.append(each.unwrap())
    return found, " ".join(troubles)


def _capture(io: WatchIo, watched: _Watched, done: Watching) -> None:
    """One line a capture. What waits in the inbox already, or says nothing new, is nothing to tell."""
    found = watched.found
    try:
        sighted = look_at(io.backfill, found, looking_for(io.backfill, [found], WATCH_EVENT))
        if sighted.entry is not None:
            put_sighted(io.backfill, sighted)
    except Error as error:
        _note_problem(io, done, f"{named(found)}: {error!s}")
        return
    if sighted.entry is not None:
        _tell(io, f"captured {named(found)}: about {short_number(sighted.chars)} characters")
        done.captured += 1
    elif sighted.problem:
        _note_problem(io, done, f"{named(found)}: {sighted.problem}")
    elif sighted.sight in _LEFT_OUT:
        _tell(io, f"left out {named(found)}: {_LEFT_OUT[sighted.sight]}")
    watched.is_ended = watched.is_ended or sighted.sight not in _A_PERSONS


def _hand_over(io: WatchIo, found: FoundSession, done: Watching) -> None:
    try:
        id = unwrap(io.hand_over(found))
    except Error as error:
        _note_problem(io, done, f"{named(found)}: {error!s}")
        return
    if id is not None:
        _tell(io, f"handed over {named(found)}: {id}")
        done.handed_over += 1


def _note_problem(io: WatchIo, done: Watching, problem: str) -> None:
    io.warn(problem)
    done.problems = (*done.problems, problem)[:MOST_PROBLEMS]


def _tell(io: WatchIo, said: str) -> None:
    io.tell(f"{iso_of(io.backfill.clock.now_ms())[:19]}Z {said}")
