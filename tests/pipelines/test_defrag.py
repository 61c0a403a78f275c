"""The story of defrag, over adapters in memory: nothing is guessed about what a run did, and a bug ends it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.errors import AgentMissing, Defect, Error, StateCorrupt, StoreIo
from agent_memory.note.note import Listed, MemoryEntry, Meta, StoredEntry
from agent_memory.pipelines.defrag import DefragIo, defrag, notes_as_listed, steps
from agent_memory.rules.change import Change, Footprint, Published
from agent_memory.rules.plan import DefragRequest
from agent_memory.rules.run import DefragRun
from agent_memory.store.run_files import DefragRecords, RunLog
from agent_memory.store.usage_ledger import UsageLedger
from agent_memory.text.ids import mint_id
from stand_ins.dict_clock import DictClock
from stand_ins.dict_recorder import DictRecorder
from stand_ins.scripted_agent import ScriptedAgent
from stand_ins.temporary import TemporaryStore, temporary_locks

TEMPLATE = (Path(__file__).parents[2] / "prompts" / "defrag.md").read_text("utf-8")
NOON_MS = 1_772_409_600_000
LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."
PORT = "The staging server listens on port 8443 behind `nginx`."
CORRUPT = StateCorrupt("runs/x/footprint-1.json", ("it is no JSON",))


def reply(*actions: dict[str, Any], hot: Sequence[str] = ()) -> Callable[[DefragRequest], str]:
    """An answer with these actions and tiers."""
    tiers = {"hot": list(hot), "warm": []}
    return lambda request: json.dumps({"version": 1, "nonce": request.nonce, "actions": list(actions), "tiers": tiers})


def run_id(number: int) -> str:
    return f"2026-03-02T00-00-00.000Z_{number:06x}"


@define
class DefragWorld:
    """The adapters of one store, and runs over them."""

    agent: ScriptedAgent[DefragRequest]
    clock: DictClock = field(factory=lambda: DictClock(NOON_MS))
    store: TemporaryStore = field(factory=TemporaryStore)
    recorder: DictRecorder = field(factory=DictRecorder)
    words: int = 0
    runs: int = 0

    @property
    def records(self) -> DefragRecords:
        return DefragRecords(self.store.root, self.clock)

    def note(self, title: str, body: str, **meta: Any) -> str:
        """A live note, written a day apart from the one before; its id."""
        self.clock.at_ms += 86_400_000
        at_ms = self.clock.at_ms
        id = mint_id(title, at_ms, ())
        entry = MemoryEntry(Meta(id, title, at_ms, at_ms, tags=("topic__x",), **meta), body)
        self.store.apply([Change.of(entry)]).unwrap()
        return id

    def doubled(self) -> tuple[str, str]:
        """Two notes that the agent merges."""
        one, other = self.note("Locks", LOCKS), self.note("Locks again", LOCKS)
        self.agent.answers = [reply(merge(one, other))]
        return one, other

    def io(self) -> DefragIo:
        return DefragIo(
            store=self.store,
            agent=self.agent,
            ledger=UsageLedger(self.store.root),
            recorder=self.recorder,
            records=self.records,
            log=RunLog(self.store.root),
            locks=temporary_locks(),
            clock=self.clock,
            publish=lambda _: Success(Published(())),
            prompt_template=TEMPLATE,
            random_word=self._word,
        )

    def run(self, *, dry_run: bool = False) -> DefragRun:
        """A run that completed."""
        return self.try_run(dry_run=dry_run).unwrap()

    def try_run(self, *, dry_run: bool = False) -> Result[DefragRun, Error]:
        self.runs += 1
        return defrag(self.io(), DefragRun(run_id(self.runs), self.clock.at_ms, dry_run))

    def live(self) -> dict[str, StoredEntry]:
        listing = self.store.list().unwrap()
        return {each.meta.id: self.store.read(each.meta.id).unwrap() for each in listing.entries}

    def _word(self) -> str:
        self.words += 1
        return f"{self.words:032x}"


class DamagedLog(RunLog):
    """What a run changed cannot be read."""

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        return Failure(CORRUPT)


@pytest.fixture
def world() -> DefragWorld:
    return DefragWorld(ScriptedAgent([reply()]))


def merge(*ids: str, body: str = LOCKS) -> dict[str, object]:
    title = "Locks die with their holder"
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


def test_p20_a_secret_in_a_reply_is_neither_kept_on_record_nor_written(world: DefragWorld) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other, body=f"{LOCKS} The token is {secret}."))]
    world.run(dry_run=True)
    kept = [each.read_text() for each in world.store.root.glob("runs/*/replies/*.json")]
    assert ["The token is [redacted" in each for each in kept] == [True, True]
    assert secret not in repr((kept, world.agent.asked[1].prompt))
    world.run()
    assert secret not in repr(world.live())


def test_what_expired_asks_nobody_and_a_crash_behind_it_is_finished_by_the_next_run(world: DefragWorld) -> None:
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


def test_while_it_is_unknown_whether_it_was_applied_nothing_is_applied_again_p6(world: DefragWorld) -> None:
    ids = world.doubled()
    io = evolve(world.io(), log=DamagedLog(world.store.root))
    assert defrag(io, DefragRun(run_id(1), world.clock.at_ms)) == Failure(CORRUPT)
    assert set(world.live()) == set(ids)
    assert world.recorder.commits == []
    world.run()
    assert len(world.live()) == 1, "positive control"


def test_while_it_is_unknown_what_was_changed_nothing_is_recorded_p6(world: DefragWorld) -> None:
    world.doubled()
    io = evolve(world.io(), log=DamagedLog(world.store.root))
    assert steps(io)["commit_changes"](DefragRun(run_id(1), NOON_MS)) == Failure(CORRUPT)
    assert world.recorder.commits == []


def test_a_note_that_cannot_be_read_is_named_and_hides_no_other_p6(
    world: DefragWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Staging", PORT)
    really_read = TemporaryStore.read_again

    def read(store: TemporaryStore, listed: Listed) -> Result[StoredEntry, Error]:
        is_broken = listed.meta.id == one
        return Failure(StoreIo(listed.path, "read", "EIO", "broken")) if is_broken else really_read(store, listed)

    monkeypatch.setattr(TemporaryStore, "read_again", read)
    missed: list[str] = []
    found = notes_as_listed(world.io(), world.store.list().unwrap().entries, missed)
    assert [each.meta.id for each in found] == [other]
    assert [(one in words, "was left out" in words) for words in missed] == [(True, True)]


def test_a_bug_ends_the_run_with_every_note_as_it_was(world: DefragWorld) -> None:
    def broken(request: DefragRequest) -> str:
        raise ZeroDivisionError("by nought")

    ids = world.doubled()
    world.agent.answers = [broken]
    error = world.try_run().failure()
    assert isinstance(error, Defect)
    assert "by nought" in error.detail
    assert set(world.live()) == set(ids)


def test_what_is_refused_is_shown_once_more_with_its_reason_and_may_be_put_right(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    port = world.note("Ports", "The staging server listens on port 8443.")
    rename = {"action": "rename", "id": port, "title": "Where staging listens"}
    pinned = {"action": "archive", "id": world.note("Pinned", "It stays.", pinned=True), "reason": "it is over"}
    world.agent.answers = [
        reply(merge(one, other, body="Shorter."), rename, pinned),
        reply(merge(one, other), rename | {"title": "Ports of staging"}),
    ]
    run = world.run()
    first, second = (each.prompt for each in world.agent.asked)
    assert "You answered this prompt once" not in first
    told = second.partition("You answered this prompt once")[2]
    assert f"merge of {one}, {other}: " in told
    assert port not in told, "it was accepted"
    assert "It stays" not in told, "nothing that the agent writes could help"
    assert run.sentence(brief=True) == "1 merged, 1 renamed, 1 note changed tier; 1 action refused"
    assert world.live()[port].meta.title == "Where staging listens"


@pytest.mark.parametrize("second", [AgentMissing("scripted"), reply(), "no JSON"])
def test_without_a_second_answer_the_first_is_carried_out(
    world: DefragWorld, second: str | Error | Callable[[DefragRequest], str]
) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    port = world.note("Ports", "The staging server listens on port 8443.")
    over = {"action": "archive", "id": port, "reason": "it is over"}
    world.agent.answers = [reply(merge(one, other, body="Shorter."), over), second]
    run = world.run()
    assert len(world.agent.asked) == 2
    assert run.sentence(brief=True) == "1 archived; 1 action refused"
    assert set(world.live()) == {one, other}
    assert world.records.find_reply(run.reply_keys[1]).unwrap() is None
