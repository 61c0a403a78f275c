"""Search before write, in a consolidation: what is about the same is linked, what is known already is not stored again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Result

import one_change
from agent_memory.errors import Error, StoreIo
from agent_memory.note.note import Kind, Status, StoredEntry
from agent_memory.pipelines.consolidate import consolidate
from agent_memory.recall.known_notes import KnownNotes, Near
from agent_memory.recall.note_index import NoteIndex
from agent_memory.rules.run import Run
from agent_memory.rules.similarity import Subject
from agent_memory.session.history import Role
from agent_memory.text.ids import mint_id
from pipelines.consolidate_world import REPO, ScriptedAgent, World, entries, history, note, turns

ORDER = (
    "esbuild makes three bundles one after the other: bin, mcp and cli. With Promise.all the cli was bundled before mcp "
    "existed."
)
AGAIN = (
    "The three bundles of esbuild are made one after the other, bin, mcp, cli: with Promise.all the cli was too early."
)
NEWER = "The three bundles of esbuild are made one after the other, bin, mcp, cli and since 4.2 docs: never with Promise.all."
OTHER = "The staging database is copied every night at two."


def put(world: World, title: str, body: str, **values: Any) -> str:
    return one_change.put(world.store, title, body, **{"scope": REPO, **values})


def world_that_says(*items: dict[str, Any], status: Status = Status.CONSOLIDATED) -> World:
    world = World(ScriptedAgent([entries(*items)], status=status))
    world.capture("s1", "The bundles must be made in their order", "And the database is copied at night")
    said = history("s1", "The bundles must be made in their order", "And the database is copied at night")
    world.histories.put("s1", evolve(said, turns=(*said.turns, *turns(AGAIN, first=3, role=Role.AGENT))))
    return world


def written(world: World, known: str) -> list[StoredEntry]:
    ids = [each.meta.id for each in world.listed() if each.meta.id != known]
    return [world.store.read(id).unwrap() for id in ids]


def test_a_new_entry_links_to_the_note_about_the_same_and_another_does_not() -> None:
    world = world_that_says(note("Bundling", AGAIN, turns=[1]), note("Staging data", OTHER, turns=[2]))
    known = put(world, "Build order", ORDER)
    world.run()
    bodies = {each.meta.title: each.body for each in written(world, known)}
    assert bodies == {"Bundling": f"{AGAIN}\n\nSee also: [[{known}]]", "Staging data": OTHER}


def test_a_successor_does_not_link_to_what_it_takes_the_place_of() -> None:
    known = mint_id("Build order", 1, ())
    world = world_that_says(note("Bundling", AGAIN, turns=[1], supersedes=[known]))
    assert put(world, "Build order", ORDER) == known
    world.run()
    assert all("[[" not in each.body for each in written(world, known))
    assert [each.meta.title for each in world.listed()] == ["Bundling"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "is_stored"),
    [
        (AGAIN, Kind.LESSON, Status.CAPTURED, False),
        (NEWER, Kind.LESSON, Status.CAPTURED, True),
        (AGAIN, Kind.DECISION, Status.CAPTURED, True),
        (AGAIN, Kind.LESSON, Status.CONSOLIDATED, True),
    ],
)
def test_a_lesson_nobody_judged_is_stored_if_new(body: str, kind: Kind, status: Status, is_stored: bool) -> None:
    lesson = note("Bundling", body, kind=kind.value, turns=[3])
    world = world_that_says(lesson, note("Staging data", OTHER, turns=[2]), status=status)
    known = put(world, "Build order", f"{ORDER} The cli was too early then.", kind=Kind.LESSON)
    world.run()
    titles = {each.meta.title for each in written(world, known)}
    assert titles == ({"Bundling", "Staging data"} if is_stored else {"Staging data"})


def test_a_link_to_a_lesson_that_was_not_stored_leads_to_the_one_that_is() -> None:
    lesson = note("Bundling", AGAIN, kind="lesson", ref="a", turns=[3])
    world = world_that_says(
        lesson, note("Staging data", f"{OTHER} As in [[ref:a]].", turns=[2]), status=Status.CAPTURED
    )
    known = put(world, "Build order", f"{ORDER} The cli was too early then.", kind=Kind.LESSON)
    world.run()
    assert [each.body for each in written(world, known)] == [f"{OTHER} As in [[{known}]]."]


def test_a_store_that_cannot_be_asked_ends_the_run_and_the_session_waits() -> None:
    class Broken(KnownNotes):
        def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> Result[tuple[Near, ...], Error]:
            return Failure(StoreIo("topics", "list", "EIO", "broken"))

    world = world_that_says(note("Bundling", AGAIN, turns=[1]))
    run = Run("run-1", world.clock.at_ms, None, False)
    assert isinstance(
        consolidate(evolve(world.io(), known=Broken(world.store, NoteIndex(world.store.files))), run), Failure
    )
    assert len(world.inbox.names().unwrap()) == 1
