"""The story of consolidate, over adapters in memory."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from returns.result import Result

from agent_memory.errors import AgentTimedOut, Error
from agent_memory.note.note import Harness, Kind, Status
from agent_memory.rules.agent_request import SessionRequest
from agent_memory.rules.run import Run
from one_change import write
from pipelines.consolidate_world import ScriptedAgent, World, entries, envelope, history, note, skipped


@pytest.fixture
def world() -> World:
    return World(ScriptedAgent([entries(note("Locks die with their holder", turns=[1]))]))


def test_a_timeout_sets_one_session_back_and_a_second_in_a_row_pauses_the_run(world: World) -> None:
    timeout = AgentTimedOut("llm", 300)
    world.agent.answers = [timeout, entries(note("Locks die with their holder")), timeout, timeout]
    for each in ("s1", "s2", "s3", "s4", "s5"):
        world.capture(each, f"Remember that locks die with their holder, says {each}")
    run = world.run()
    assert world.verdicts(run) == ["timed-out", "written", "timed-out", "timed-out"]
    assert run.paused == timeout
    assert len(world.inbox.names().unwrap()) == 4
    assert all(trouble.attempts == 0 for trouble in world.inbox.troubles)


def test_a_reply_is_not_used_again_once_an_entry_that_it_was_shown_has_changed(world: World) -> None:
    world.capture("s0", "Remember that locks die with their holder")
    world.run()
    world.capture("s1", "Do locks die with their holder? Remember it.")
    world.agent.answers = [skipped(), entries(note("Something else entirely", turns=[1]))]
    world.agent.asked.clear()
    world.run(dry_run=True)
    assert [each.meta.title for each in world.agent.asked[0].shown] == ["Locks die with their holder"]
    (listed,) = world.listed()
    stored = world.store.read(listed.meta.id).unwrap()
    write(world.store, evolve(stored.entry, body="Edited meanwhile."), listed.content_hash).unwrap()
    assert world.verdicts(world.run()) == ["written"]
    assert len(world.agent.asked) == 2


def test_a_long_session_goes_in_windows_that_become_one_change_set(world: World) -> None:
    world.agent.max_prompt_chars = 32_000
    long = [f"Remember number {number}: " + "words and words " * 400 for number in range(8)]
    world.agent.answers = [
        lambda request: envelope(
            request, entries=[note(f"Window {len(world.agent.asked)}", turns=[request.window.turns[0].number])]
        )
    ]
    world.capture("s1", *long)
    run = world.run()
    windows = [request.window for request in world.agent.asked]
    assert len(windows) > 1
    assert [turn.number for window in windows for turn in window.turns] == list(range(1, 9))
    assert [request.final_window for request in world.agent.asked] == [False] * (len(windows) - 1) + [True]
    assert len(world.listed()) == len(windows)
    assert len(world.recorder.commits) == 1
    assert world.verdicts(run) == ["written"]
    assert all(len(request.prompt) <= 32_000 for request in world.agent.asked)


def test_a_session_that_is_too_large_for_one_fetch_is_taken_up_again_until_it_is_done(world: World) -> None:
    first = evolve(history("s1", "Remember that locks die with their holder"), remaining=True)
    world.capture("s1", "x")
    world.histories.put("s1", first)

    def grow(request: object) -> str:
        world.histories.put("s1", history("s1", first.turns[0].text, "Remember: backups run at night"))
        return envelope(world.agent.asked[-1], entries=[note("Locks die with their holder", turns=[1])])

    world.agent.answers = [grow, entries(note("Backups run at night", turns=[2]))]
    run = world.run()
    assert world.verdicts(run) == ["written", "written"]
    assert run.sentence == "1 session processed, 2 notes written"
    assert world.inbox.names().unwrap() == ()


def test_the_handoff_of_a_session_is_updated_in_place_as_it_grows(world: World) -> None:
    world.agent.answers = [
        entries(note("Where the lock work stands", "Asked: locks. Open: tests.", kind="handoff", turns=[1]))
    ]
    world.capture("s1", "Please write the locks")
    world.run()
    (handoff,) = world.listed()
    assert handoff.meta.kind is Kind.HANDOFF
    assert handoff.meta.expires_at_ms is not None

    def renew(_request: object) -> str:
        asked = world.agent.asked[-1]
        assert asked.handoff_id == handoff.meta.id
        return envelope(
            asked, updates=[{"id": handoff.meta.id, "body": "Asked: locks. Done.", "turns": [2], "why": "done"}]
        )

    world.agent.answers = [renew]
    world.capture("s1", "Please write the locks", "Thanks, the tests are done too")
    run = world.run()
    assert world.verdicts(run) == ["written"]
    assert [each.meta.id for each in world.listed()] == [handoff.meta.id]
    assert "Done." in world.store.read(handoff.meta.id).unwrap().body


@pytest.mark.parametrize("state", ["load_queue", "fetch_history", "run_agent", "parse_output"])
def test_p3_a_crash_costs_no_second_call(world: World, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _after_crash_at(world, state, monkeypatch) == _straight()
    assert len(world.agent.asked) <= (2 if state == "run_agent" else 1)


class _Crash(BaseException):
    """Ends the process, as it were: nothing in the project catches it."""


def _after_crash_at(world: World, state: str, monkeypatch: pytest.MonkeyPatch) -> object:
    world.capture("s1", "Remember that locks die with their holder")
    checkpoint = world.runs.checkpoint

    def crash(here: str, run: Run) -> Result[None, Error]:
        checkpoint(here, run)
        if here == state:
            raise _Crash
        return checkpoint(here, run)

    with monkeypatch.context() as patched:
        patched.setattr(type(world.runs), "checkpoint", lambda _self, here, run: crash(here, run))
        with pytest.raises(_Crash):
            world.run()
    world.run()
    return _snapshot(world)


def _straight() -> object:
    world = World(ScriptedAgent([entries(note("Locks die with their holder", turns=[1]))]))
    world.capture("s1", "Remember that locks die with their holder")
    world.run()
    return _snapshot(world)


def _snapshot(world: World) -> object:
    metas = [evolve(each.meta, updated_at_ms=0) for each in world.listed()]
    marks = [each.unwrap() for each in world.marks.all()]
    kept = world.kept.fetch(Harness.CLAUDE_CODE, "s1", None).unwrap()
    assert kept is not None
    return metas, marks, kept.turns, world.inbox.names().unwrap(), len(world.inbox.processed)


def test_a_note_whose_reply_passes_no_check_stays_pending_and_the_third_time_is_stored_whole_p9(world: World) -> None:
    world.agent.answers = [entries(note("loop", "tabs " * 5_000))]
    world.capture_note("Ports", "The api listens on 8080.")
    for _ in range(2):
        assert world.verdicts(world.run()) == ["refused"]
        assert world.titles() == []
    assert world.verdicts(world.run()) == ["written"]
    assert world.titles() == ["Ports"]


def test_a_note_that_the_built_in_cannot_put_better_is_stored_whole_at_once(world: World) -> None:
    world.agent.status = Status.CAPTURED
    world.agent.answers = [entries(note("Ports", "The api listens on 8080. " * 100))]
    world.capture_note("Ports", "The api listens on 8080. " * 100)
    assert world.verdicts(world.run()) == ["written"]
    assert world.titles() == ["Ports"]


def test_a_later_window_sees_and_may_update_what_an_earlier_one_planned(world: World) -> None:
    world.agent.max_prompt_chars = 36_000
    long = ["Remember that the lock timeout is 30 seconds. " + "words and words " * 700 for _ in range(2)]

    def answer(request: SessionRequest) -> str:
        if len(world.agent.asked) == 1:
            return envelope(
                request,
                entries=[
                    note(
                        "The lock timeout is 30 seconds",
                        "The lock timeout is 30 seconds.",
                        turns=[1],
                        tags=["topic__lock"],
                    )
                ],
            )
        (shown,) = request.shown
        assert re.search(r"^topic__lock$", request.prompt, re.MULTILINE), "its tags are those in use"
        assert len(request.prompt) <= 36_000
        return envelope(
            request,
            updates=[{"id": shown.meta.id, "body": "The lock timeout is 60 seconds.", "drops": ["30"], "turns": [2]}],
        )

    world.agent.answers = [answer]
    world.capture("s1", *long)
    run = world.run()
    assert len(world.agent.asked) == 2
    (stored,) = world.listed()
    assert "60 seconds" in world.store.read(stored.meta.id).unwrap().body
    assert run.settled[0].outcome.dropped == ()
