"""The built-in is shown no more notes than it may touch, and judges the others by what is known of them."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve
from returns.result import Result

from agent_memory.agent.agent_command import BuiltinAgent
from agent_memory.errors import Error
from agent_memory.note.note import Listed, Sensitivity, StoredEntry
from agent_memory.pipelines.defrag import defrag
from agent_memory.rules.findings import FindingKind
from agent_memory.rules.run import DefragRun
from agent_memory.text.instants import DAY_MS
from pipelines.defrag_world import DefragWorld, TidyingAgent
from stand_ins.temporary_store import TemporaryStore

LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."


class WatchedStore(TemporaryStore):
    """One that remembers what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        self.opened.append(listed.meta.id)
        return super().read_again(listed)


class World(DefragWorld):
    """A store that the built-in tidies."""

    def __init__(self) -> None:
        super().__init__(TidyingAgent([]), store=WatchedStore())

    def tidied(self, *, dry_run: bool = False) -> tuple[DefragRun, set[str]]:
        """A run, and what it read once more to show it, after all notes were analysed."""
        store = self.store
        assert isinstance(store, WatchedStore)
        analysed = Counter(self.live().keys())
        io = evolve(self.io(), agent=BuiltinAgent())
        store.opened.clear()
        self.runs += 1
        run = defrag(io, DefragRun(f"run-{self.runs}", self.clock.at_ms, dry_run)).unwrap()
        assert Counter(store.opened) >= analysed
        return run, {*(Counter(store.opened) - analysed)}


@pytest.fixture
def world() -> World:
    return World()


def test_only_what_is_there_twice_is_shown(world: World) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", f"{LOCKS}\n")
    world.note("Sale", "The sale ends on Sunday.", expires_at_ms=world.clock.at_ms + 3 * DAY_MS)
    world.note("Port", "The staging server listens on port 8443.")
    world.note("Other port", "The staging server listens on port 8080.")
    world.clock.at_ms += 4 * DAY_MS
    run, opened = world.tidied()
    assert opened == {one, other}
    assert run.sentence().startswith("1 merged, 1 archived")


def test_what_is_not_read_is_judged_all_the_same(world: World) -> None:
    world.note("Port", "The staging server listens on port 8443.")
    world.note("Port again", "The staging server listens on port 8080.")
    run, opened = world.tidied()
    assert ([each.kind for each in run.left], opened) == ([FindingKind.CONTRADICTION], set())
    assert len(run.memo.judged) == 1
    again, _ = world.tidied()
    assert (run.asked, again.asked) == (True, False)


@pytest.mark.parametrize("secrets", [0, 8])
def test_twins_for_which_one_run_has_no_room_are_merged_by_the_next(world: World, secrets: int) -> None:
    _twins(world, 6)
    for number in range(secrets):
        world.note(f"Secret {number}", f"Matter {number} of the harbour {number * 7}.", sensitivity=Sensitivity.SECRET)
    merged, left, asked = list[int](), list[int](), list[bool]()
    for _ in range(8):
        run, _ = world.tidied()
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
    run, _ = world.tidied()
    assert len(run.plan.actions) == 1
    assert [set(each.ids) for each in run.left] == [ids]


def _twins(world: World, pairs: int) -> None:
    for number in range(pairs):
        for title in ("Berth", "Berth again"):
            world.note(
                f"{title} {number}", f"Berth {number} of the north basin takes a draught of {number + 3} metres."
            )
