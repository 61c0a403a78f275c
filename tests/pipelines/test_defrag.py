"""The story of defrag, over adapters in memory."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import AgentMissing, Error, ReplyRefused, StoreIo
from agent_memory.pipelines.defrag import defrag, steps
from agent_memory.rules.agent_request import DefragRequest
from agent_memory.rules.change import Change
from agent_memory.rules.run import DefragRun
from pipelines.defrag_world import DefragWorld, TidyingAgent, reply, run_id

LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."
PORT = "The staging server listens on port 8443 behind `nginx`."
RETRY = "The upload is retried 3 times, never more, since the quota counts each."


@pytest.fixture
def world() -> DefragWorld:
    return DefragWorld(TidyingAgent([reply()]))


def merge(*ids: str, title: str = "Locks die with their holder", body: str = LOCKS) -> dict[str, object]:
    return {"action": "merge", "ids": list(ids), "title": title, "description": title, "tags": [], "body": body}


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


def test_p13_a_note_pinned_in_an_editor_while_the_agent_has_nothing_to_do_is_hot(world: DefragWorld) -> None:
    one = world.note("Locks", LOCKS)
    world.agent.answers = [reply(hot=[])]
    world.run()
    world.note("Staging", PORT)

    def pin_meanwhile(request: DefragRequest) -> str:
        stored = world.store.read(one).unwrap()
        pinned = evolve(stored.entry, meta=evolve(stored.meta, pinned=True))
        world.store.apply([Change.of(pinned, stored.listed.content_hash)]).unwrap()
        return reply(hot=[])(request)

    world.agent.answers = [pin_meanwhile]
    world.agent.asked.clear()
    world.run()
    assert (len(world.agent.asked), world.tiers().hot) == (1, (one,))


def test_p20_a_secret_in_a_reply_is_neither_kept_on_record_nor_written(world: DefragWorld) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other, body=f"{LOCKS} The token is {secret}."))]
    world.run(dry_run=True)
    (kept,) = world.records.root.glob("runs/*/replies/*.json")
    assert "The token is [redacted" in kept.read_text()
    assert secret not in kept.read_text()
    world.run()
    assert secret not in repr(world.live())


CRASHES = ("scan_entries", "analyze_structure", "run_agent", "apply_changes", "generate_agents_md", "commit_changes")


@pytest.mark.parametrize("state", CRASHES)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_in_any_state_ends_like_no_crash(state: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _after_crash(state, when, monkeypatch) == _straight()


class _Crash(BaseException):
    """The process dies."""


def _scene() -> DefragWorld:
    world = DefragWorld(TidyingAgent([]))
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    stale, kept = world.note("Retries", RETRY), world.note("Staging", PORT)
    archive = {"action": "archive", "id": stale, "reason": "done"}
    world.agent.answers = [reply(merge(one, other), archive, hot=[one, kept])]
    return world


def _outcome(world: DefragWorld) -> object:
    archived = world.store.list(archived=True).unwrap()
    # This recorder does not see that nothing has changed since its last commit.
    messages = {commit.message for commit in world.recorder.commits}
    return world.live(), archived, world.tiers(), world.sections, messages


def _straight() -> object:
    world = _scene()
    world.run()
    return _outcome(world)


def _after_crash(state: str, when: str, monkeypatch: pytest.MonkeyPatch) -> object:
    world = _scene()
    table = dict(steps(world.io()))
    good = table[state]

    def crashing(run: DefragRun) -> Result[DefragRun, Error]:
        if when == "after":
            good(run)
        raise _Crash

    with monkeypatch.context() as patched:
        patched.setattr("agent_memory.pipelines.defrag.steps", lambda _io: {**table, state: crashing})
        with pytest.raises(_Crash):
            world.try_run()
    world.run()
    # Only a crash between the transaction and the memory of what was judged costs a second question.
    assert len(world.agent.asked) <= 1 + ((state, when) == ("apply_changes", "after"))
    return _outcome(world)


class TestWhatIsDue:
    """Expiry and caps ask nobody."""

    def test_a_refused_reply_keeps_nothing_back_either(self, world: DefragWorld) -> None:
        world.note("Locks", LOCKS)
        world.note("Fair", PORT, expires_at_ms=1)
        world.agent.answers = ["I cannot do that."]
        run = world.run()
        assert isinstance(run.trouble, ReplyRefused)
        assert len(world.live()) == 1

    def test_a_crash_behind_it_is_finished_by_the_next_run(self, world: DefragWorld) -> None:
        world.note("Locks", LOCKS)
        world.note("Fair", PORT, expires_at_ms=1)
        world.agent.answers = [AgentMissing("claude"), reply()]
        broken = evolve(world.io(), publish=lambda keep: Failure(StoreIo("/srv", "write", "EIO", "broken")))
        ended = defrag(broken, DefragRun(run_id(0), world.clock.at_ms))
        assert isinstance(ended.failure(), StoreIo)
        begun = world.records.unfinished().unwrap()
        assert begun is not None
        assert begun[1].id == run_id(0)
        world.run()
        assert (world.records.unfinished(), len(world.live())) == (Success(None), 1)
