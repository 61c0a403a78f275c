"""The story of consolidate, over adapters in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from attrs import evolve

import one_change
from agent_memory.errors import AgentTimedOut
from agent_memory.note.note import Kind, MemoryEntry, Meta, Status
from agent_memory.pipelines.consolidate import take_up_deferred
from agent_memory.rules.change import Change, max_changes
from agent_memory.rules.plan import SessionRequest
from agent_memory.rules.run import Run
from one_change import write
from pipelines.consolidate_world import (
    NOON_MS,
    REPO,
    World,
    entries,
    envelope,
    history,
    note,
    skipped,
)
from stand_ins.scripted_agent import ScriptedAgent


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
    assert len(world.inbox.entries) == 4
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
    assert world.inbox.entries == {}


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


# -- changes over a run's limit wait for the next run, which takes them up first ---------------------------------------


def world_of(*letters: str) -> World:
    world = World(ScriptedAgent([skipped()]))
    entries = [MemoryEntry(Meta(id_of(letter), f"Note {letter}", NOON_MS, NOON_MS), "Words.") for letter in letters]
    world.store.apply([Change.of(entry) for entry in entries]).unwrap()
    return world


def id_of(letter: str) -> str:
    return f"id__aaaaa{letter}"


def replace(world: World, letter: str, body: str) -> Change:
    stored = world.store.read(id_of(letter)).unwrap()
    return Change.of(MemoryEntry(evolve(stored.meta, updated_at_ms=NOON_MS + 1), body), stored.listed.content_hash)


def retire(world: World, letter: str) -> Change:
    return Change.retire(id_of(letter), world.store.read(id_of(letter)).unwrap().listed.content_hash)


def taken_up(world: World) -> Run:
    return take_up_deferred(world.io(), Run("run-1", NOON_MS, None))


def body_of(world: World, letter: str) -> str:
    return world.store.read(id_of(letter)).unwrap().body.strip()


def test_the_next_run_makes_the_changes_that_were_left_and_records_them() -> None:
    world = world_of("a", "b", "c")
    world.runs.put_deferred((replace(world, "a", "New."), retire(world, "b"))).unwrap()
    run = taken_up(world)
    assert [(each.id, each.act, each.title) for each in run.taken_up] == [
        (id_of("a"), "replace", "Note a"),
        (id_of("b"), "retire", "Note b"),
    ]
    assert (body_of(world, "a"), world.titles()) == ("New.", ["Note a", "Note c"])
    assert run.changed == {id_of("a"), id_of("b")}, "they count for this run's limit"
    assert world.runs.deferred().unwrap() == ()
    assert "2 changes left by earlier runs" in world.recorder.commits[-1].message


def test_of_more_than_a_run_may_change_the_rest_waits_on_p14() -> None:
    letters = "abcde"
    world = world_of(*letters)
    changes: Sequence[Change] = [replace(world, letter, "New.") for letter in letters]
    world.runs.put_deferred(tuple(changes)).unwrap()
    limit = max_changes(len(letters))
    assert len(taken_up(world).taken_up) == limit < len(letters)
    assert world.runs.deferred().unwrap() == tuple(changes[limit:])
    taken_up(world)
    assert {body_of(world, letter) for letter in letters} == {"New."}
    assert world.runs.deferred().unwrap() == ()


def test_an_entry_that_changed_meanwhile_stays_as_it_is_p8() -> None:
    world = world_of("a")
    late = replace(world, "a", "What the agent thought.")
    world.runs.put_deferred((late,)).unwrap()
    world.store.apply([replace(world, "a", "What the person wrote.")]).unwrap()
    run = taken_up(world)
    assert body_of(world, "a") == "What the person wrote."
    assert (run.taken_up, world.runs.deferred().unwrap(), world.recorder.commits) == ((), (), [])


# -- likening ----------------------------------------------------------------------------------------------------------


ORDER = (
    "esbuild makes three bundles one after the other: bin, mcp and cli. With Promise.all the cli was bundled before mcp "
    "existed."
)
AGAIN = (
    "The three bundles of esbuild are made one after the other, bin, mcp, cli: with Promise.all the cli was too early."
)
OTHER = "The staging database is copied every night at two."


def test_a_new_entry_links_to_the_note_about_the_same_and_another_does_not() -> None:
    answer = entries(note("Bundling", AGAIN, turns=[1]), note("Staging data", OTHER, turns=[2]))
    world = World(ScriptedAgent([answer]))
    world.capture("s1", "The bundles must be made in their order", "And the database is copied at night")
    known = one_change.put(world.store, "Build order", ORDER, scope=REPO)
    world.run()
    bodies = {each.meta.title: world.store.read(each.meta.id).unwrap().body for each in world.listed()}
    assert bodies == {
        "Build order": ORDER,
        "Bundling": f"{AGAIN}\n\nSee also: [[{known}]]",
        "Staging data": OTHER,
    }
