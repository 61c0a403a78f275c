"""Changes over a run's limit wait for the next run, which takes them up first (P14, P8)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from returns.result import Success

from agent_memory.errors import RecorderFailed
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.pipelines.consolidate import take_up_deferred
from agent_memory.rules.change import Change, max_changes
from agent_memory.rules.run import Run
from pipelines.consolidate_world import NOON_MS, ScriptedAgent, World, skipped
from stand_ins.dict_recorder import DictRecorder


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


def test_trouble_with_git_is_told_and_costs_no_change_p4() -> None:
    world = world_of("a")
    world.recorder = DictRecorder(RecorderFailed("git commit", 128, "the index is locked"))
    world.runs.put_deferred((replace(world, "a", "New."),)).unwrap()
    run = taken_up(world)
    assert body_of(world, "a") == "New."
    assert ["the index is locked" in each for each in run.warnings] == [True]
    assert [each.id for each in run.taken_up] == [id_of("a")]
    assert world.runs.deferred() == Success(())
