"""The story of defrag, over adapters in memory."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.errors import (
    Defect,
    Error,
    StateCorrupt,
)
from agent_memory.pipelines.defrag import defrag
from agent_memory.rules.change import Footprint
from agent_memory.rules.plan import DefragRequest
from agent_memory.rules.run import DefragRun
from agent_memory.store.run_files import RunLog
from pipelines.defrag_world import DefragWorld, TidyingAgent, reply, run_id

LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."


@pytest.fixture
def world() -> DefragWorld:
    return DefragWorld(TidyingAgent([reply()]))


def test_what_one_agent_has_judged_is_new_to_another(world: DefragWorld) -> None:
    for pair in range(6):
        body = "\n\n".join(f"Line {line} of subject{pair} tells about thing{pair}x{line}." for line in range(120))
        world.note(f"Subject{pair}", body)
        world.note(f"Subject{pair} again", body)
    world.agent.max_prompt_chars = 400_000
    world.run()
    world.run()
    assert len(world.agent.asked) == 1
    world.agent.name, world.agent.max_prompt_chars = "another", 40_000
    world.run()
    seen = {each.meta.id for each in world.agent.asked[-1].shown}
    assert 0 < len(seen) < 12
    world.run()
    assert len(world.agent.asked) == 3
    assert seen.isdisjoint(each.meta.id for each in world.agent.asked[-1].shown[:2])


# -- what goes wrong in defrag: nothing is guessed about what a run did, and a bug ends it -----------------------------


CORRUPT = StateCorrupt("runs/x/footprint-1.json", ("it is no JSON",))


class DamagedLog(RunLog):
    """What a run changed cannot be read."""

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        return Failure(CORRUPT)


def doubled(world: DefragWorld) -> tuple[str, str]:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    merge = {
        "action": "merge", "ids": [one, other], "title": "Locks", "description": "Locks", "tags": [], "body": LOCKS,
    }  # fmt: skip
    world.agent.answers = [reply(merge)]
    return one, other


def test_while_it_is_unknown_whether_it_was_applied_nothing_is_applied_again_p6(world: DefragWorld) -> None:
    ids = doubled(world)
    io = evolve(world.io(), log=DamagedLog(world.store.root))
    assert defrag(io, DefragRun(run_id(1), world.clock.at_ms)) == Failure(CORRUPT)
    assert set(world.live()) == set(ids)
    assert world.recorder.commits == []
    world.run()
    assert len(world.live()) == 1, "positive control"


def test_a_bug_ends_the_run_with_every_note_as_it_was(world: DefragWorld) -> None:
    def broken(request: DefragRequest) -> str:
        raise ZeroDivisionError("by nought")

    ids = doubled(world)
    world.agent.answers = [broken]
    error = world.try_run().failure()
    assert isinstance(error, Defect)
    assert "by nought" in error.detail
    assert set(world.live()) == set(ids)


def test_what_is_refused_is_counted_once(world: DefragWorld) -> None:
    one, _ = world.note("Locks", LOCKS), world.note("Ports", "The staging server listens on port 8443.")
    malformed, sound = {"action": "merge", "ids": [one]}, {"action": "archive", "id": one, "reason": "it is over"}
    world.agent.answers = [reply(malformed, sound)]
    run = world.run()
    assert run.sentence(brief=True) == "1 archived; 1 action refused"
    assert [each.subject for each in run.plan.dropped] == [f"merge of {one}"]
