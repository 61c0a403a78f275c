"""Which transcripts came to rest: the rules of `memory watch`. Pure; instants are epoch ms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set as AbstractSet

from attrs import evolve, field, frozen

from agent_memory.domain.found_session import FoundSession

Key = tuple[str, str]
"""Harness and session id."""


@frozen
class Rest:
    """How long a transcript must rest to be captured, and to be taken for ended; None: it never is."""

    debounce_ms: int = 30_000
    idle_ms: int | None = 180_000


@frozen
class Watched:
    """One session that changed while it was watched."""

    found: FoundSession
    changed_at_ms: int
    """When the change was seen, by our own clock: the file's may be another machine's."""
    is_captured: bool = False
    is_idle: bool = False


@frozen
class Watch:
    """The sessions that changed since the watch began."""

    sessions: Mapping[Key, Watched] = field(factory=dict[Key, Watched])


@frozen
class Due:
    """What is to be done now, and when it is time to look again (None: when something changes)."""

    captures: tuple[FoundSession, ...]
    idle: tuple[FoundSession, ...]
    next_at_ms: int | None


def observed(watch: Watch, found: Iterable[FoundSession], now_ms: int) -> Watch:
    """The watch after a look: what looks otherwise than before has changed just now. What is gone is watched no more."""
    sessions: dict[Key, Watched] = {}
    for each in found:
        known = watch.sessions.get(key_of(each))
        if known is None or _looks_other(known.found, each):
            sessions[key_of(each)] = Watched(each, now_ms)
        else:
            # With a clock set back (P24) the rest begins anew.
            sessions[key_of(each)] = evolve(known, changed_at_ms=min(known.changed_at_ms, now_ms))
    return Watch(sessions)


def due(watch: Watch, rest: Rest, now_ms: int) -> Due:
    """What has rested long enough, in the order in which it came to rest."""
    captures: list[FoundSession] = []
    idle: list[FoundSession] = []
    next_times: list[int] = []
    for each in sorted(watch.sessions.values(), key=lambda each: (each.changed_at_ms, key_of(each.found))):
        captured_at_ms = each.changed_at_ms + rest.debounce_ms
        if not each.is_captured:
            captures += [each.found] if captured_at_ms <= now_ms else []
            next_times += [captured_at_ms] if captured_at_ms > now_ms else []
        if rest.idle_ms is None or each.is_idle:
            continue
        # Whatever is set shorter, a session is captured before it is taken for ended.
        idle_at_ms = each.changed_at_ms + max(rest.idle_ms, rest.debounce_ms)
        idle += [each.found] if idle_at_ms <= now_ms else []
        next_times += [idle_at_ms] if idle_at_ms > now_ms else []
    return Due(tuple(captures), tuple(idle), min(next_times, default=None))


def settled(watch: Watch, done: Due, left_out: AbstractSet[Key] = frozenset()) -> Watch:
    """The watch, with these captured and handed over, and those left out not to be handed over; any change makes them due
    again."""
    captured = {key_of(each) for each in done.captures}
    idle = {*left_out, *(key_of(each) for each in done.idle)}
    return Watch(
        {
            key: evolve(each, is_captured=each.is_captured or key in captured, is_idle=each.is_idle or key in idle)
            for key, each in watch.sessions.items()
        }
    )


def key_of(found: FoundSession) -> Key:
    """What a session is known by."""
    return found.harness.value, found.session_id


def _looks_other(before: FoundSession, now: FoundSession) -> bool:
    return (before.changed_at_ms, before.size_bytes, before.path) != (now.changed_at_ms, now.size_bytes, now.path)
