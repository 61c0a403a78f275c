"""What consolidate keeps of a session, and a second look at it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.entry import Usage
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.queue import SessionFile
from agent_memory.domain.run import Run
from agent_memory.domain.vocabulary import Harness, Status
from agent_memory.errors import Error, HistoryUnavailable, StateCorrupt, StoreIo
from agent_memory.pipelines.backfill import ask_again, plan_upgrades
from agent_memory.pipelines.consolidate import steps
from pipelines.consolidate_world import (
    CWD,
    NOON_MS,
    REPO,
    ScriptedAgent,
    World,
    entries,
    envelope,
    history,
    note,
    skipped,
    turns,
)
from stand_ins.temporary_records import TemporaryKeptHistories

CLAUDE = Harness.CLAUDE_CODE
GONE = HistoryUnavailable("s1", "the transcript is gone", is_missing=True)
OUT_OF_REACH = HistoryUnavailable("s1", "s1.jsonl cannot be read: Permission denied")


def world(*answers: str | Callable[[SessionRequest], str]) -> World:
    return World(ScriptedAgent(list(answers) or [skipped()]))


def builtin_world(*answers: str | Callable[[SessionRequest], str]) -> World:
    return World(ScriptedAgent(list(answers), name="builtin", status=Status.CAPTURED, max_prompt_chars=None))


def kept_numbers(world: World, session_id: str = "s1") -> list[int]:
    found = world.kept.fetch(CLAUDE, session_id, None).unwrap()
    return [] if found is None else [turn.number for turn in found.turns]


# -- keeping ----------------------------------------------------------------------------------------------------------


def test_the_history_of_a_consolidated_session_is_kept_redacted() -> None:
    """P20"""
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    store = world(entries(note("One thing")))
    store.capture("s1", f"use the token {secret}", "then deploy")
    store.run()
    found = store.kept.fetch(CLAUDE, "s1", None).unwrap()
    assert found is not None
    assert kept_numbers(store) == [1, 2]
    assert secret not in str(found)
    assert "use the token" in found.turns[0].text
    assert found.cwd == CWD


def test_what_came_since_is_kept_as_a_part_of_its_own() -> None:
    store = world(entries(note("One thing")), skipped())
    store.capture("s1", "first")
    store.run()
    store.capture("s1", "first", "second", "third")
    store.run()
    (session,) = store.kept.sessions().unwrap()
    assert session.name == "claude-code_s1"
    assert kept_numbers(store) == [1, 2, 3]


class FullDisk(TemporaryKeptHistories):
    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        return Failure(StoreIo("histories", "write", "ENOSPC", "No space left on device"))


def test_a_history_that_cannot_be_kept_is_a_warning_and_costs_no_note() -> None:
    """P5"""
    store = world(entries(note("One thing")))
    store.kept = FullDisk()
    store.capture("s1", "hello")
    run = store.run()
    assert store.titles() == ["One thing"]
    assert any("No space left" in warning for warning in run.warnings)


@pytest.mark.parametrize("state", ["run_agent", "parse_output", "write_entries", "mark_processed", "commit_changes"])
def test_a_run_killed_anywhere_leaves_the_history_kept_once(state: str) -> None:
    """P3: a run that goes on from a checkpoint has no history, so it must have been kept before."""
    store = world(entries(note("One thing")))
    store.capture("s1", "first", "second")
    io = store.io()
    table = steps(io)
    run = Run("run-1", store.clock.at_ms)
    for step in ("load_queue", "fetch_history", "run_agent", "parse_output", "write_entries", "mark_processed"):
        assert store.runs.checkpoint(step, run) == Success(None)
        if step == state:
            break
        run = table[step](run).unwrap()
    store.run()
    assert kept_numbers(store) == [1, 2]
    assert store.titles() == ["One thing"]
    assert store.marks.get(CLAUDE, "s1").unwrap() is not None
    assert not store.inbox.entries


def with_a_lost_transcript() -> World:
    """A session of which one turn was seen and two were kept, captured again after its transcript went."""
    store = world(skipped(), entries(note("Found later")))
    store.capture("s1", "first", "second")
    store.run()
    mark = store.marks.get(CLAUDE, "s1").unwrap()
    assert mark is not None
    store.marks.put(evolve(mark, last_record_id="record-1", turns_seen=1)).unwrap()
    store.histories.put("s1", GONE)
    store.capture_entry(SessionFile("claude-code-session", "s1"))
    return store


# -- a second look ----------------------------------------------------------------------------------------------------


def test_a_session_whose_transcript_is_gone_is_read_from_what_was_kept() -> None:
    store = with_a_lost_transcript()
    assert store.verdicts(store.run()) == ["written"]
    assert [turn.number for turn in store.agent.asked[-1].window.turns] == [2]


def test_what_was_kept_of_an_unreadable_transcript_is_not_taken_for_all_of_it_p6() -> None:
    store = with_a_lost_transcript()
    store.histories.put("s1", OUT_OF_REACH)
    assert store.verdicts(store.run()) == ["written", "unavailable"]
    assert len(store.inbox.entries) == 1
    store.clock.at_ms += DAY_MS
    assert store.verdicts(store.run()) == ["unavailable"]
    store.clock.at_ms += DAY_MS
    store.histories.put("s1", history("s1", "first", "second", "third"))
    store.agent = ScriptedAgent([skipped()])
    store.run()
    assert [[turn.number for turn in request.window.turns] for request in store.agent.asked] == [[3]]
    assert not store.inbox.entries


def test_a_kept_history_that_is_damaged_hides_nothing() -> None:
    """P6"""

    class Damaged(TemporaryKeptHistories):
        def fetch(self, *_: object) -> Result[History | None, Error]:
            return Failure(StateCorrupt("histories/x", ("no",)))

    store = world(skipped())
    store.kept = Damaged()
    store.histories.put("s1", GONE)
    store.capture_entry(SessionFile("claude-code-session", "s1"))
    assert store.verdicts(store.run()) == ["unavailable"]


class Unreadable(TemporaryKeptHistories):
    def fetch(self, *_: object) -> Result[History | None, Error]:
        return Failure(StoreIo("histories/x", "read", "EIO", "Input/output error"))


def test_one_that_cannot_be_read_just_now_is_waited_for_and_no_attempt_p6() -> None:
    store = with_a_lost_transcript()
    kept, store.kept = store.kept, Unreadable()
    for _ in range(4):
        assert store.verdicts(store.run()) == ["unavailable"]
        store.clock.at_ms += DAY_MS
    (trouble,) = store.inbox.troubles.values()
    assert (trouble.code, trouble.attempts) == ("store-io", 0)
    assert len(store.inbox.entries) == 1
    store.kept = kept
    assert store.verdicts(store.run()) == ["written"]


# -- upgrade ----------------------------------------------------------------------------------------------------------


def upgraded(store: World) -> int:
    plan = plan_upgrades(store.inbox, store.marks, store.store, store.clock).unwrap()
    ask_again(store.inbox, plan).unwrap()
    return len(plan.entries)


def consolidated_by_builtin() -> World:
    store = builtin_world(entries(note("Ports", "The staging port is `8123`.", turns=[1])))
    store.capture("s1", "remember: the staging port is `8123`", "thanks")
    store.run()
    store.agent = ScriptedAgent([skipped()])
    return store


def test_a_command_updates_what_the_builtin_wrote_instead_of_doubling_it() -> None:
    store = consolidated_by_builtin()
    (before,) = store.listed()

    def improved(request: SessionRequest) -> str:
        (shown,) = request.shown
        update = {
            "id": shown.meta.id,
            "title": "Staging port",
            "body": "The staging port is `8123`, behind the proxy.",
            "turns": [1],
        }
        return envelope(request, entries=[], updates=[update])

    store.agent = ScriptedAgent([improved])
    assert upgraded(store) == 1
    assert store.verdicts(store.run()) == ["written"]
    (after,) = store.listed()
    assert (after.meta.id, after.meta.title, after.meta.status) == (before.meta.id, "Staging port", Status.CONSOLIDATED)
    assert [turn.number for turn in store.agent.asked[0].window.turns] == [1, 2]
    assert after.meta.scope == REPO
    mark = store.marks.get(CLAUDE, "s1").unwrap()
    assert mark is not None
    assert (mark.agent_name, mark.turns_seen, mark.entry_ids) == ("scripted", 2, (before.meta.id,))


def test_what_came_since_is_not_left_to_the_next_capture_when_it_cannot_be_read_now_p6() -> None:
    store = consolidated_by_builtin()
    upgraded(store)
    whole = history("s1", "remember: the staging port is `8123`", "thanks", "one more thing")
    store.histories.put("s1", OUT_OF_REACH)
    assert store.verdicts(store.run()) == ["unavailable"]
    store.clock.at_ms += DAY_MS
    store.histories.put("s1", whole)
    store.run()
    assert [[turn.number for turn in request.window.turns] for request in store.agent.asked] == [[1, 2], [3]]
    assert not store.inbox.entries


def test_one_that_can_never_be_read_is_given_up_in_the_end() -> None:
    store = consolidated_by_builtin()
    upgraded(store)
    store.histories.put("s1", OUT_OF_REACH)
    verdicts: list[str] = []
    while store.inbox.entries and len(verdicts) < 99:
        verdicts += store.verdicts(store.run())
        store.clock.at_ms += DAY_MS
    assert verdicts == [*["unavailable"] * 21, "gave-up"]
    assert upgraded(store) == 0


def test_one_that_is_gone_and_was_not_kept_is_given_up_at_once_with_the_reason() -> None:
    store = consolidated_by_builtin()
    store.kept.forget(CLAUDE, "s1").unwrap()
    upgraded(store)
    store.histories.put("s1", GONE)
    run = store.run()
    assert [(each.outcome.verdict, each.outcome.reason) for each in run.settled] == [
        ("gave-up", "The history of session s1 is not there: the transcript is gone.")
    ]
    assert not store.inbox.entries
    assert upgraded(store) == 0
    assert store.titles() == ["Ports"]


def test_it_works_after_the_transcript_is_gone() -> None:
    store = consolidated_by_builtin()
    store.histories.put("s1", GONE)
    upgraded(store)
    assert store.verdicts(store.run()) == ["skipped"]
    assert [turn.number for turn in store.agent.asked[0].window.turns] == [1, 2]


def test_what_was_said_since_is_looked_at_right_after() -> None:
    store = consolidated_by_builtin()
    upgraded(store)
    store.capture("s1", "remember: the staging port is `8123`", "thanks", "one more thing", "bye")
    store.run()
    seen = [[turn.number for turn in request.window.turns] for request in store.agent.asked]
    assert seen == [[1, 2], [3, 4]]
    assert not store.inbox.entries
    assert kept_numbers(store) == [1, 2, 3, 4]


def test_it_is_not_done_with_less_than_was_kept_nor_without_what_came_since_p6() -> None:
    store = consolidated_by_builtin()
    upgraded(store)
    kept, store.kept = store.kept, Unreadable()
    store.run()
    store.clock.at_ms += DAY_MS
    store.kept = kept
    whole = history("s1", "remember: the staging port is `8123`", "thanks", "one more thing")
    store.histories.put("s1", StoreIo("s1.jsonl", "read", "EIO", "Input/output error"))
    store.run()
    assert (store.agent.asked, len(store.inbox.entries)) == ([], 1)
    store.clock.at_ms += DAY_MS
    store.histories.put("s1", whole)
    store.run()
    assert [[turn.number for turn in request.window.turns] for request in store.agent.asked] == [[1, 2], [3]]


# -- what agents looked at --------------------------------------------------------------------------------------------


def opens(id: str) -> ToolCall:
    return ToolCall("Read", "", f"/root/topics/some title -- {id}.md")


def agent_turn(number: int, *calls: ToolCall) -> Turn:
    return Turn(number, Role.AGENT, "looking", f"record-{number}", NOON_MS + number * 1000, tool_calls=calls)


def session_with(store: World, session_id: str, *said: Turn) -> None:
    store.histories.put(session_id, History(CLAUDE, session_id, (*turns("hello"), *said), cwd=CWD))
    store.capture_entry(SessionFile("claude-code-session", session_id))


def with_note() -> tuple[World, str]:
    """A store with one note, and its id."""
    store = world(entries(note("Ports")), skipped())
    store.capture("s0", "the ports")
    store.run()
    (listed,) = store.listed()
    return store, listed.meta.id


def test_an_entry_that_an_agent_opened_directly_counts_once_a_session() -> None:
    store, id = with_note()
    session_with(store, "s1", agent_turn(2, opens(id), opens(id)), agent_turn(3, opens(id)))
    session_with(store, "s2", agent_turn(2, opens(id)))
    store.run()
    assert store.ledger.totals() == Success({id: Usage(2, NOON_MS + 2000)})


def test_a_session_that_grew_counts_no_entry_again() -> None:
    store, id = with_note()
    session_with(store, "s1", agent_turn(2, opens(id)))
    store.run()
    session_with(store, "s1", agent_turn(2, opens(id)), agent_turn(3, opens(id)))
    store.run()
    assert store.ledger.totals().unwrap()[id].count == 1


def test_what_memory_counted_when_it_printed_it_is_not_counted_again() -> None:
    store, id = with_note()
    read = ToolCall("Bash", f"memory read {id}")
    session_with(store, "s1", agent_turn(2, read))
    store.run()
    session_with(store, "s1", agent_turn(2, read), agent_turn(3, opens(id)))
    store.run()
    assert store.ledger.totals() == Success({})
    session_with(store, "s2", agent_turn(2, opens(id)))
    store.run()
    assert store.ledger.totals().unwrap()[id].count == 1


@pytest.mark.parametrize("state", ["write_entries", "mark_processed", "commit_changes"])
def test_a_use_is_never_counted_twice_by_a_run_that_was_killed(state: str) -> None:
    """P7"""
    store, id = with_note()
    store.agent = ScriptedAgent([entries(note("Another thing"))])
    session_with(store, "s1", agent_turn(2, opens(id)))
    io = store.io()
    run = Run("run-1", store.clock.at_ms)
    for name, step in steps(io).items():
        assert store.runs.checkpoint(name, run) == Success(None)
        run = step(run).unwrap()
        if name == state:
            break
    store.run()
    assert store.ledger.totals().unwrap().get(id, Usage(0, None)).count <= 1
    assert store.titles() == ["Another thing", "Ports"]
