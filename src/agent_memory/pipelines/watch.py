"""The story of watch: transcripts that changed and then rested are captured, and handed over once they seem to have ended.

What was there before it began is backfill's, but for what changed just before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen
from returns.result import Failure, Result

from agent_memory.domain.found_session import (
    Due,
    FoundSession,
    Key,
    Rest,
    Sight,
    Sighted,
    Watch,
    due,
    key_of,
    observed,
    settled,
    short_number,
)
from agent_memory.domain.queue import WATCH_EVENT
from agent_memory.domain.vocabulary import Harness, iso_of
from agent_memory.errors import Error, UsageInvalid
from agent_memory.pipelines.backfill import BackfillIo, look_at, looking_for, put_sighted
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


@frozen
class Watching:
    """What a watch has done."""

    captured: int = 0
    handed_over: int = 0
    problems: tuple[str, ...] = ()
    """The first `MOST_PROBLEMS`."""


@as_result
def watch(io: WatchIo, harnesses: Sequence[Harness], rest: Rest) -> Watching:
    """What was done until the watch was ended. A session's trouble, and that of the disk, is told and the watch goes on:
    the session is due again at its next change, and backfill finds it in any case."""
    unknown = next((harness for harness in harnesses if harness not in io.backfill.finders), None)
    if unknown is not None:
        known = ", ".join(sorted(io.backfill.finders))
        hint = f"There are {known}; `memory backfill {unknown}` may find its past ones."
        raise UsageInvalid(f"Sessions of {unknown} cannot be watched", hint)
    chosen = tuple(dict.fromkeys(harnesses)) or tuple(sorted(io.backfill.finders))
    since_ms = io.backfill.clock.now_ms() - rest.debounce_ms
    state: Watch = {}
    done, last_trouble = Watching(), ""
    while not io.is_stopped():
        found, trouble = _found(io, chosen, since_ms)
        if trouble != last_trouble:  # a directory that cannot be listed cannot be listed every two seconds
            done = _with_problem(io, done, trouble) if trouble else done
            last_trouble = trouble
        now_ms = io.backfill.clock.now_ms()
        state = observed(state, found, now_ms)
        now_due = due(state, rest, now_ms)
        done, left_out = _act(io, now_due, done)
        state = settled(state, now_due, left_out)
        next_at_ms = now_due.next_at_ms
        seconds = _LONGEST_WAIT_SECONDS if next_at_ms is None else (next_at_ms - now_ms) / 1000
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


def _act(io: WatchIo, now_due: Due, done: Watching) -> tuple[Watching, frozenset[Key]]:
    """What has been done after this, and the sessions that are nobody's to hand over."""
    left_out: set[Key] = set()
    for found in now_due.captures:
        try:
            sighted = look_at(io.backfill, found, looking_for(io.backfill, [found], WATCH_EVENT))
            if sighted.entry is not None:
                put_sighted(io.backfill, sighted)
        except Error as error:
            done = _with_problem(io, done, f"{_named(found)}: {error!s}")
            continue
        done = _told(io, sighted, done)
        left_out.update([] if sighted.sight in _A_PERSONS else [key_of(found)])
    for found in now_due.idle:
        if key_of(found) in left_out:
            continue
        try:
            id = unwrap(io.hand_over(found))
        except Error as error:
            done = _with_problem(io, done, f"{_named(found)}: {error!s}")
            continue
        if id is not None:
            _tell(io, f"handed over {_named(found)}: {id}")
            done = evolve(done, handed_over=done.handed_over + 1)
    return done, frozenset(left_out)


def _told(io: WatchIo, sighted: Sighted, done: Watching) -> Watching:
    """One line a capture. What waits in the inbox already, or says nothing new, is nothing to tell."""
    name = _named(sighted.found)
    if sighted.entry is not None:
        _tell(io, f"captured {name}: about {short_number(sighted.chars)} characters")
        return evolve(done, captured=done.captured + 1)
    if sighted.problem:
        return _with_problem(io, done, f"{name}: {sighted.problem}")
    if sighted.sight in _LEFT_OUT:
        _tell(io, f"left out {name}: {_LEFT_OUT[sighted.sight]}")
    return done


def _with_problem(io: WatchIo, done: Watching, problem: str) -> Watching:
    io.warn(problem)
    return evolve(done, problems=(*done.problems, problem)[:MOST_PROBLEMS])


def _tell(io: WatchIo, said: str) -> None:
    io.tell(f"{iso_of(io.backfill.clock.now_ms())[:19]}Z {said}")


def _named(found: FoundSession) -> str:
    return " ".join(key_of(found))
