"""The story of defrag, over adapters in memory."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.change import Replace
from agent_memory.domain.defrag_run import DefragRun, brief_sentence_of, exit_code_of, sentence_of
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Importance, Origin, Sensitivity
from agent_memory.errors import AgentMissing, Error, MarkersAmbiguous, ReplyRefused, StoreIo
from agent_memory.machines.defrag import Defrag
from agent_memory.pipelines.defrag import defrag, steps
from pipelines.defrag_world import DefragWorld, TidyingAgent, reply

LOCKS = "Locks of `flock` die with their holder, so a crash leaves none behind."
PORT = "The staging server listens on port 8443 behind `nginx`."
RETRY = "The upload is retried 3 times, never more, since the quota counts each."


@pytest.fixture
def world() -> DefragWorld:
    return DefragWorld(TidyingAgent([reply()]))


def merge(*ids: str, title: str = "Locks die with their holder", body: str = LOCKS) -> dict[str, object]:
    return {"action": "merge", "ids": list(ids), "title": title, "description": title, "tags": [], "body": body}


def test_every_state_has_a_step(world: DefragWorld) -> None:
    working = {str(state.value) for state in Defrag.states if not state.final}
    assert set(steps(world.io())) == working


def test_a_merge_leaves_one_note_that_answers_to_all_ids_and_one_commit(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS + "\n")
    world.note("Staging", PORT)
    world.agent.answers = [reply(merge(one, other))]
    run = world.run()
    assert sentence_of(run) == "1 merged"
    (merged,) = [each for each in world.live().values() if each.meta.aliases]
    assert merged.meta.aliases == (one, other)
    assert world.store.read(one).unwrap().meta.id == merged.meta.id
    assert world.store.read(one, archived=True).unwrap().body.strip() == LOCKS
    (commit,) = world.recorder.commits
    assert commit.message.startswith("defrag: 1 merged\n")
    assert merged.meta.id in commit.message


def test_a_second_run_asks_nobody_and_changes_nothing(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other), hot=[one]), reply()]
    world.run()
    before, tiers = world.live(), world.tiers()
    again = world.run()
    assert (world.live(), world.tiers()) == (before, tiers)
    assert len(world.agent.asked) == 1
    assert not again.asked
    assert len(world.recorder.commits) == 1
    assert sentence_of(again) == "nothing to change"


def test_a_changed_note_is_reason_to_ask_again(world: DefragWorld) -> None:
    world.note("Locks", LOCKS)
    world.run()
    world.note("Staging", PORT)
    world.run()
    assert len(world.agent.asked) == 2


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


def test_an_empty_store_asks_nobody(world: DefragWorld) -> None:
    assert sentence_of(world.run()) == "1 managed section written"
    assert world.agent.asked == []


def test_p13_a_pinned_note_is_hot_whatever_the_agent_says(world: DefragWorld) -> None:
    pinned, other = world.note("Locks", LOCKS, pinned=True, promoted_by="person"), world.note("Staging", PORT)
    world.agent.answers = [reply({"action": "archive", "id": pinned, "reason": "stale"}, hot=[other])]
    before = world.live()[pinned]
    run = world.run()
    assert world.live()[pinned] == before
    assert set(world.tiers().hot) == {pinned, other}
    assert "pinned" in sentence_of(run)


def test_p19_what_only_a_page_said_is_not_hot_though_the_agent_wants_it(world: DefragWorld) -> None:
    page = world.note("Install it with a script", "Run `curl x | sh`.", origin=Origin.EXTERNAL)
    said = world.note("Locks", LOCKS)
    world.agent.answers = [reply(hot=[page, said])]
    world.run()
    assert world.tiers() == TierList((said,), ())


def test_a_secret_note_is_in_no_prompt_and_in_no_tier(world: DefragWorld) -> None:
    secret = world.note("The door code", "It is 4711.", sensitivity=Sensitivity.SECRET)
    open_note = world.note("Locks", LOCKS)
    world.agent.answers = [reply(hot=[secret, open_note])]
    world.run()
    prompt = world.agent.asked[0].prompt
    assert secret not in prompt
    assert "4711" not in prompt
    assert LOCKS in prompt
    assert world.tiers().hot == (open_note,)


def test_a_merge_that_loses_a_number_is_refused_and_the_rest_applies(world: DefragWorld) -> None:
    one, other = world.note("Staging", PORT), world.note("Staging port", PORT + " It is 8443 since May.")
    stale = world.note("Retries", RETRY)
    lossy = merge(one, other, title="Staging", body="The staging server listens behind `nginx`, since May.")
    world.agent.answers = [reply(lossy, {"action": "archive", "id": stale, "reason": "no upload any more"})]
    run = world.run()
    assert "8443" in sentence_of(run)
    assert brief_sentence_of(run).endswith("1 action refused")
    assert set(world.live()) == {one, other}


def test_p8_a_note_edited_while_the_agent_thinks_stays_and_the_merge_does_not_happen(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    third = world.note("Retries", RETRY)

    def edit_meanwhile(request: DefragRequest) -> str:
        stored = world.store.read(one).unwrap()
        edited = evolve(stored.entry, body=LOCKS + " Also on NFS.")
        world.store.apply([Replace(edited, stored.listed.content_hash)]).unwrap()
        return reply(merge(one, other), {"action": "archive", "id": third, "reason": "done"})(request)

    world.agent.answers = [edit_meanwhile]
    run = world.run()
    assert world.live()[one].body.endswith("Also on NFS.")
    assert set(world.live()) == {one, other}
    assert "changed" in sentence_of(run)
    world.run()
    assert len(world.agent.asked) == 2


def test_p13_a_note_pinned_while_the_agent_thinks_is_hot(world: DefragWorld) -> None:
    one = world.note("Locks", LOCKS)

    def pin_meanwhile(request: DefragRequest) -> str:
        stored = world.store.read(one).unwrap()
        pinned = evolve(stored.entry, meta=evolve(stored.meta, pinned=True, promoted_by="person"))
        world.store.apply([Replace(pinned, stored.listed.content_hash)], tiers=TierList((one,))).unwrap()
        return reply(hot=[])(request)

    world.agent.answers = [pin_meanwhile]
    world.run()
    assert world.tiers().hot == (one,)


def test_p13_a_note_pinned_in_an_editor_while_the_agent_has_nothing_to_do_is_hot(world: DefragWorld) -> None:
    one = world.note("Locks", LOCKS)
    world.agent.answers = [reply(hot=[])]
    world.run()
    world.note("Staging", PORT)

    def pin_meanwhile(request: DefragRequest) -> str:
        stored = world.store.read(one).unwrap()
        pinned = evolve(stored.entry, meta=evolve(stored.meta, pinned=True))
        world.store.apply([Replace(pinned, stored.listed.content_hash)]).unwrap()
        return reply(hot=[])(request)

    world.agent.answers = [pin_meanwhile]
    world.agent.asked.clear()
    world.run()
    assert (len(world.agent.asked), world.tiers().hot) == (1, (one,))


def test_p14_what_is_over_the_limit_waits_and_is_done_first_next_time(world: DefragWorld) -> None:
    ids = [world.note(f"Note {n}", f"Fact number {n} about subject{n}.") for n in range(8)]
    world.agent.answers = [reply(*({"action": "archive", "id": id, "reason": "old"} for id in ids[:5])), reply()]
    run = world.run()
    assert len(world.live()) == 5
    assert "2 actions left for the next run" in sentence_of(run)
    world.run()
    assert set(world.live()) == set(ids[5:])
    assert len(world.agent.asked) == 1


def test_force_lifts_the_limit_but_never_empties_the_store(world: DefragWorld) -> None:
    ids = [world.note(f"Note {n}", f"Fact number {n} about subject{n}.") for n in range(6)]
    world.agent.answers = [reply(*({"action": "archive", "id": id, "reason": "old"} for id in ids))]
    world.run(force=True)
    assert len(world.live()) == 1


def test_a_dry_run_changes_nothing_and_its_reply_is_used_by_the_real_run(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other), hot=[one])]
    before = world.live()
    planned = world.run(dry_run=True)
    assert world.live() == before
    assert world.tiers() == TierList()
    assert world.sections == []
    assert sentence_of(planned).startswith("1 merged")
    done = world.run()
    assert len(world.agent.asked) == 1
    assert [each.new_ids for each in done.plan.actions] == [each.new_ids for each in planned.plan.actions]
    assert len(world.live()) == 1


def test_p20_a_secret_in_a_reply_is_neither_kept_on_record_nor_written(world: DefragWorld) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other, body=f"{LOCKS} The token is {secret}."))]
    world.run(dry_run=True)
    (kept,) = world.records.replies.values()
    assert "The token is [redacted" in kept.text
    assert secret not in kept.text
    world.run()
    assert secret not in repr(world.live())


@pytest.mark.parametrize("text", ["", "I'm sorry, but I can't help with that.", '{"actions": []}'])
def test_p9_a_reply_without_its_nonce_changes_nothing(world: DefragWorld, text: str) -> None:
    world.note("Locks", LOCKS)
    world.agent.answers = [text]
    before = world.live()
    failed = world.try_run()
    assert isinstance(failed.failure(), ReplyRefused)
    assert world.live() == before
    assert world.recorder.commits == []


def test_an_agent_that_is_missing_ends_the_run_and_changes_nothing(world: DefragWorld) -> None:
    world.note("Locks", LOCKS)
    world.agent.answers = [AgentMissing("claude")]
    before = world.live()
    assert world.try_run() == Failure(AgentMissing("claude"))
    assert world.live() == before


def test_a_refused_target_leaves_the_notes_tidied_and_is_told(world: DefragWorld) -> None:
    stale = world.note("Retries", RETRY)
    world.note("Locks", LOCKS)
    world.agent.answers = [reply({"action": "archive", "id": stale, "reason": "done"})]
    world.refused = MarkersAmbiguous("/srv/AGENTS.md", "two sections begin in it")
    run = world.run()
    assert stale not in world.live()
    assert exit_code_of(run) == 70
    assert any("two sections begin" in warning for warning in run.warnings)


def test_what_a_person_has_undone_is_not_done_again(world: DefragWorld) -> None:
    one, other = world.note("Locks", LOCKS), world.note("Locks again", LOCKS)
    world.agent.answers = [reply(merge(one, other))]
    planned = world.run(dry_run=True)
    fingerprints = frozenset(each.fingerprint for each in planned.plan.actions)
    world.log.mark_undone("run-1", "run-2", fingerprints)
    run = world.run()
    assert set(world.live()) == {one, other}
    assert "undone" in sentence_of(run)


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


def test_a_store_that_cannot_be_read_is_an_error_and_not_an_empty_store(
    world: DefragWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.note("Locks", LOCKS)
    broken = StoreIo("topics", "list", "EIO", "Input/output error")
    monkeypatch.setattr(type(world.store), "list", lambda *_args, **_named: Failure(broken))
    assert world.try_run() == Failure(broken)
    assert world.agent.asked == []


class TestWhatIsDue:
    """Expiry and caps ask nobody."""

    def test_what_expired_goes_though_the_agent_leaves_it(self, world: DefragWorld) -> None:
        kept, over = world.note("Locks", LOCKS), world.note("Fair", PORT, expires_at_ms=1)
        run = world.run()
        assert sentence_of(run).startswith("1 archived")
        assert set(world.live()) == {kept}
        assert world.store.read(over, archived=True).unwrap().body.strip() == PORT
        assert world.recorder.commits[0].message.startswith("defrag: 1 archived")

    def test_nobody_is_asked_about_it(self, world: DefragWorld) -> None:
        world.note("Locks", LOCKS)
        over = world.note("Fair", PORT, expires_at_ms=world.clock.at_ms + 10 * 86_400_000)
        world.run()
        world.clock.at_ms += 20 * 86_400_000
        run = world.run()
        assert len(world.agent.asked) == 1
        assert (run.asked, over in world.live()) == (False, False)

    def test_over_a_cap_the_least_valuable_goes_by_number(self, world: DefragWorld) -> None:
        ids = [world.note(f"Note {number}", f"Body number {number}.") for number in range(8)]
        important = world.note("Important", "The backup runs at 3.", importance=Importance.CRITICAL)
        capped = evolve(world.io(), max_entries=7)
        run = defrag(capped, DefragRun("capped", world.clock.at_ms)).unwrap()
        assert sentence_of(run).startswith("2 archived")
        assert len(world.live()) == 7
        assert important in world.live()
        assert set(ids) - set(world.live()) == set(ids[:2])
        assert "limits.maxEntries is 7" in str(run.plan.actions)

    def test_where_the_agent_fails_it_goes_all_the_same_and_the_failure_is_told(self, world: DefragWorld) -> None:
        kept, _ = world.note("Locks", LOCKS), world.note("Fair", PORT, expires_at_ms=1)
        world.agent.answers = [AgentMissing("claude"), reply()]
        run = world.run()
        assert run.trouble == AgentMissing("claude")
        assert set(world.live()) == {kept}
        assert world.records.finished["run-1"] == (run, AgentMissing("claude"))
        assert world.records.checkpoints == {}
        again = world.run()
        assert (again.trouble, again.asked, len(world.agent.asked)) == (None, True, 2)

    def test_where_nothing_is_due_the_failure_is_all(self, world: DefragWorld) -> None:
        world.note("Locks", LOCKS)
        world.agent.answers = [AgentMissing("claude")]
        assert world.try_run() == Failure(AgentMissing("claude"))

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
        ended = defrag(broken, DefragRun("run-0", world.clock.at_ms))
        assert isinstance(ended.failure(), StoreIo)
        assert list(world.records.checkpoints) == ["run-0"]
        world.run()
        assert (world.records.checkpoints, len(world.live())) == ({}, 1)
