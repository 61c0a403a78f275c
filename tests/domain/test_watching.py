from __future__ import annotations

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.domain.found_session import FoundSession, Rest, Watch, due, observed, settled
from agent_memory.domain.queue import SessionFile
from agent_memory.domain.vocabulary import Harness

REST = Rest(30_000, 180_000)
NOW = 1_771_000_000_000


def session(name: str = "s1", changed_ms: int = NOW, size_bytes: int = 10) -> FoundSession:
    retrieval = SessionFile("claude-code-session", name, f"/t/{name}.jsonl")
    return FoundSession(Harness.CLAUDE_CODE, retrieval, changed_ms, size_bytes)


def test_a_transcript_is_captured_once_it_rested_and_handed_over_once_it_rests_on() -> None:
    one = session()
    watch = observed({}, [one], NOW)
    assert due(watch, REST, NOW + 29_999).captures == ()
    assert due(watch, REST, NOW + 29_999).next_at_ms == NOW + 30_000
    rested = due(watch, REST, NOW + 30_000)
    assert (rested.captures, rested.idle, rested.next_at_ms) == ((one,), (), NOW + 180_000)
    watch = settled(watch, rested)
    assert due(watch, REST, NOW + 31_000).captures == ()
    ended = due(watch, REST, NOW + 180_000)
    assert (ended.captures, ended.idle, ended.next_at_ms) == ((), (one,), None)
    assert due(settled(watch, ended), REST, NOW + 999_000).idle == ()


def test_a_clock_set_back_keeps_nothing_waiting_for_ever() -> None:
    """P24"""
    watch = observed({}, [session()], NOW + 10**9)
    watch = observed(watch, [session()], NOW)
    assert due(watch, REST, NOW + 30_000).captures == (session(),)


steps = st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 3)), max_size=25)


@settings(max_examples=60)
@given(steps)
def test_every_last_change_is_captured_exactly_once(changes: list[tuple[int, int]]) -> None:
    watch: Watch = {}
    now, size = NOW, 0
    captured: list[int | None] = []
    looked_at: list[int] = []
    for wait_ms, grown in [*changes, (60_000, 0), (200_000, 0)]:
        now += wait_ms
        size += grown
        looked_at.append(size)
        watch = observed(watch, [evolve(session(), size_bytes=size)], now)
        rested = due(watch, REST, now)
        captured += [each.size_bytes for each in rested.captures]
        watch = settled(watch, rested)
    assert captured[-1] == looked_at[-1]
    assert len(captured) == len(set(captured))
