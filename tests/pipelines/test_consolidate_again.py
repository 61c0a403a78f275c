"""What consolidate keeps of a session, and a second look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnavailable, StateCorrupt, StoreIo
from agent_memory.note.note import Harness, Status, Usage
from agent_memory.pipelines.backfill import ask_again, plan_upgrades
from agent_memory.pipelines.consolidate import steps
from agent_memory.rules.plan import SessionRequest
from agent_memory.rules.run import Run
from agent_memory.session.history import History, Role, SessionMark, ToolCall, Turn
from agent_memory.session.queue import SessionFile
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.text.instants import DAY_MS
from pipelines.consolidate_world import CWD, NOON_MS, PLENTY, World, entries, history, note, skipped, turns
from stand_ins.scripted_agent import ScriptedAgent

CLAUDE = Harness.CLAUDE_CODE
GONE = HistoryUnavailable("s1", "the transcript is gone", is_missing=True)
OUT_OF_REACH = HistoryUnavailable("s1", "s1.jsonl cannot be read: Permission denied")


def world(*answers: str | Callable[[SessionRequest], str]) -> World:
    return World(ScriptedAgent(list(answers) or [skipped()]))


def builtin_world(*answers: str | Callable[[SessionRequest], str]) -> World:
    return World(ScriptedAgent(list(answers), name="builtin", status=Status.CAPTURED, max_prompt_chars=None))


# -- keeping ----------------------------------------------------------------------------------------------------------


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


def test_a_kept_history_that_is_damaged_hides_nothing_p6() -> None:
    class Damaged(KeptHistories):
        def fetch(self, *_: object) -> Result[History | None, Error]:
            return Failure(StateCorrupt("histories/x", ("no",)))

    store = world(skipped())
    store.kept = Damaged(store.root, PLENTY)
    store.histories.put("s1", GONE)
    store.capture_entry(SessionFile("claude-code-session", "s1"))
    assert store.verdicts(store.run()) == ["unavailable"]


class Unreadable(KeptHistories):
    def fetch(self, *_: object) -> Result[History | None, Error]:
        return Failure(StoreIo("histories/x", "read", "EIO", "Input/output error"))


def test_one_that_cannot_be_read_just_now_is_waited_for_and_no_attempt_p6() -> None:
    store = with_a_lost_transcript()
    kept, store.kept = store.kept, Unreadable(store.root, PLENTY)
    for _ in range(4):
        assert store.verdicts(store.run()) == ["unavailable"]
        store.clock.at_ms += DAY_MS
    (trouble,) = store.inbox.troubles
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


def test_a_damaged_mark_is_told_and_hides_no_session_p6() -> None:
    class Damaged(SessionMarks):
        def all(self) -> Iterator[Result[SessionMark, Error]]:
            yield Failure(StateCorrupt("state/sessions/x.json", ("no",)))
            yield from super().all()

    store = consolidated_by_builtin()
    marks = Damaged(store.root)
    plan = plan_upgrades(store.inbox, marks, store.store, store.clock).unwrap()
    assert (len(plan.entries), ["state/sessions/x.json" in each for each in plan.warnings]) == (1, [True])


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


def test_it_is_not_done_with_less_than_was_kept_nor_without_what_came_since_p6() -> None:
    store = consolidated_by_builtin()
    upgraded(store)
    kept, store.kept = store.kept, Unreadable(store.root, PLENTY)
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
def test_a_use_is_never_counted_twice_by_a_run_that_was_killed_p7(state: str) -> None:
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
