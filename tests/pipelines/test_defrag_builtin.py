"""What the built-in has no room for in one run is done by the next."""

from __future__ import annotations

import pytest
from attrs import evolve

from agent_memory.agent.agent_command import BuiltinAgent
from agent_memory.note.note import Sensitivity
from agent_memory.pipelines.defrag import defrag
from agent_memory.rules.run import DefragRun
from pipelines.defrag_world import DefragWorld
from stand_ins.scripted_agent import ScriptedAgent


class World(DefragWorld):
    """A store that the built-in tidies."""

    def __init__(self) -> None:
        super().__init__(ScriptedAgent([]))

    def tidied(self) -> DefragRun:
        self.runs += 1
        return defrag(evolve(self.io(), agent=BuiltinAgent()), DefragRun(f"run-{self.runs}", self.clock.at_ms)).unwrap()


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("secrets", [0, 8])
def test_twins_for_which_one_run_has_no_room_are_merged_by_the_next(world: World, secrets: int) -> None:
    _twins(world, 6)
    for number in range(secrets):
        world.note(f"Secret {number}", f"Matter {number} of the harbour {number * 7}.", sensitivity=Sensitivity.SECRET)
    merged, left, asked = list[int](), list[int](), list[bool]()
    for _ in range(8):
        run = world.tidied()
        merged.append(len(run.plan.actions))
        left.append(len(run.left))
        asked.append(run.asked)
    assert sum(merged) == 6
    assert len(world.live()) == 6 + secrets
    assert left == [0] * 8
    assert asked[-1] is False  # what was left for want of room is no question for ever


def test_twins_that_cannot_be_merged_are_told_of_though_there_is_no_room(world: World) -> None:
    _twins(world, 4)
    everywhere = "The same is to be said of lamps here and in every other place."
    ids = {world.note(f"Lamps {scope}", everywhere, scope=scope) for scope in ("global", "github.com/ada/lamp")}
    run = world.tidied()
    assert len(run.plan.actions) == 1
    assert [set(each.ids) for each in run.left] == [ids]


def _twins(world: World, pairs: int) -> None:
    for number in range(pairs):
        for title in ("Berth", "Berth again"):
            world.note(
                f"{title} {number}", f"Berth {number} of the north basin takes a draught of {number + 3} metres."
            )
