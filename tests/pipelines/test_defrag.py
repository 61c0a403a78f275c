"""The story of defrag, over adapters in memory."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import (
    AgentMissing,
    Defect,
    EntryUnreadable,
    Error,
    StateCorrupt,
    StoreIo,
)
from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.pipelines.defrag import defrag, notes_as_listed, steps
from agent_memory.rules.change import Change, ChangeGroup, Footprint
from agent_memory.rules.plan import DefragPlan, DefragRequest
from agent_memory.rules.run import DefragRun
from agent_memory.store.run_files import RunLog
from pipelines.defrag_world import NOON_MS, DefragWorld, reply, run_id
from stand_ins.scripted_agent import ScriptedAgent
from stand_ins.temporary_store import TemporaryStore

LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."
PORT = "The staging server listens on port 8443 behind `nginx`."
RETRY = "The upload is retried 3 times, never more, since the quota counts each."


@pytest.fixture
def world() -> DefragWorld:
    return DefragWorld(ScriptedAgent([reply()]))


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
    world = DefragWorld(ScriptedAgent([]))
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


# -- what an analysis reads: every note that is still there as it was listed -------------------------------------------


class FaultyStore(TemporaryStore):
    """One in which a note is in trouble when it comes to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, Error] = {}

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        return Failure(self.errors[id]) if id in self.errors else super().read(id, archived=archived)

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        id = listed.meta.id
        return Failure(self.errors[id]) if id in self.errors else super().read_again(listed)


def _faulty() -> tuple[DefragWorld, FaultyStore, str, str]:
    store = FaultyStore()
    world = DefragWorld(ScriptedAgent([]), store=store)
    one = world.note("Port of the lamp", "The lamp listens on port 8080.")
    return world, store, one, world.note("Owner of the lamp", "Ana owns the lamp.")


def test_a_note_that_cannot_be_read_is_named_and_hides_no_other_p6() -> None:
    world, store, one, other = _faulty()
    store.errors[one] = EntryUnreadable("topics/x.md", ("no frontmatter",))
    missed: list[str] = []
    found = [each.meta.id for each in notes_as_listed(world.io(), store.list().unwrap().entries, missed)]
    (words,) = missed
    assert found == [other]
    assert one in words
    assert "was left out" in words


# -- what of a plan is still possible once the agent has answered ------------------------------------------------------


IDS = tuple(f"id__{letter * 6}" for letter in "abcd")
RUN = DefragRun(
    "2026-02-13T14-30-05.123Z_3dbfbe",
    1_770_993_005_123,
    plan=DefragPlan(tuple(ChangeGroup(id, (Change.retire(id, f"hash {id}"),)) for id in IDS)),
)


def listed(id: str, content_hash: str) -> Listed:
    return Listed(Meta(id, "Note", 1, 2), f"topics/Note {id}.md", content_hash)


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


def test_while_it_is_unknown_what_was_changed_nothing_is_recorded_p6(world: DefragWorld) -> None:
    doubled(world)
    io = evolve(world.io(), log=DamagedLog(world.store.root))
    assert steps(io)["commit_changes"](DefragRun(run_id(1), NOON_MS)) == Failure(CORRUPT)
    assert world.recorder.commits == []


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
