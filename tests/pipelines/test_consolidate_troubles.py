"""What goes wrong around a session in consolidate: whose fault it is decides what it costs."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.care.tombstones import Tombstones
from agent_memory.errors import Defect, Error, StateCorrupt, StoreIo
from agent_memory.note.note import GLOBAL_SCOPE, Harness
from agent_memory.pipelines.consolidate import ConsolidateIo, consolidate, rescue
from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone, statement_hashes
from agent_memory.rules.run import KeptReply, Run, Work
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import Context, InboxEntry, Pending, SessionFile
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.store.run_files import ConsolidateRecords
from pipelines.consolidate_world import CWD, NOON_MS, World, entries, history, note
from stand_ins.dict_histories import DictHistories
from stand_ins.scripted_agent import ScriptedAgent

CLAUDE = Harness.CLAUDE_CODE
CORRUPT = StateCorrupt("state/x.json", ("it is no JSON",))
FULL = StoreIo("runs", "write to", "ENOSPC", "No space left on device")
ENTRY = InboxEntry(NOON_MS, CLAUDE, SessionFile("claude-code-session", "s1"), Context(cwd=CWD))


@pytest.fixture
def world() -> World:
    return World(ScriptedAgent([entries(note("Locks die with their holder"))]))


def run_over(io: ConsolidateIo) -> Run:
    return consolidate(io, Run("run-1", NOON_MS + 60_000)).unwrap()


class TestTheStoresFault:
    """Costs the session no attempt."""

    def test_while_it_is_unknown_what_was_forgotten_nothing_is_read_p28(self, world: World) -> None:
        class Damaged(Tombstones):
            def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
                return Failure(CORRUPT)

        world.capture("s1", "Remember: locks die")
        run = run_over(evolve(world.io(), tombstones=Damaged(world.root)))
        assert world.verdicts(run) == ["unavailable"]
        assert (len(world.inbox.entries), world.agent.asked) == (1, [])

    def test_a_damaged_mark_is_no_session_unseen_p6(self, world: World) -> None:
        class Damaged(SessionMarks):
            def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]:
                return Failure(CORRUPT)

        world.capture("s1", "Remember: locks die")
        world.marks = Damaged(world.root)
        assert world.verdicts(world.run()) == ["unavailable"]
        assert (len(world.inbox.entries), world.agent.asked) == (1, [])

    @pytest.mark.parametrize("error", [FULL, CORRUPT])
    def test_an_agent_that_met_the_disk_fails_the_run_and_the_session_waits(self, world: World, error: Error) -> None:
        world.agent.answers = [error]
        world.capture("s1", "Remember: locks die")
        assert world.result() == Failure(error)
        assert (len(world.inbox.entries), world.inbox.troubles) == (1, [])

    def test_a_reply_that_cannot_be_put_away_leaves_the_session_for_the_next_run_p3(self, world: World) -> None:
        class Full(ConsolidateRecords):
            def spend_reply(self, key: str) -> Result[None, Error]:
                return Failure(FULL)

        world.capture("s1", "Remember: locks die")
        world.runs = Full(world.root, world.clock)
        assert world.result() == Failure(FULL)
        assert len(world.inbox.entries) == 1
        world.runs = ConsolidateRecords(world.root, world.clock)
        world.run()
        assert (world.titles(), len(world.agent.asked)) == (["Locks die with their holder"], 1)
        assert not world.inbox.entries

    def test_what_cannot_be_kept_of_a_run_fails_it_before_anything_is_written_p3(self, world: World) -> None:
        class ForReplies(ConsolidateRecords):
            def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
                return Failure(FULL)

        class ForWhereItStands(ConsolidateRecords):
            def checkpoint(self, state: str, run: Run) -> Result[None, Error]:
                return Failure(FULL) if state == "write_entries" else super().checkpoint(state, run)

        world.capture("s1", "Remember: locks die")
        for full in (ForReplies, ForWhereItStands):
            world.runs = full(world.root, world.clock)
            assert world.result() == Failure(FULL)
            assert (world.titles(), len(world.inbox.entries)) == ([], 1)


class TestWhatIsToBeRead:
    def test_a_session_without_a_person_teaches_nothing(self, world: World) -> None:
        world.histories.put("s1", evolve(history("s1", "nightly report"), automated=True))
        world.capture_entry(SessionFile("claude-code-session", "s1"))
        run = world.run()
        assert world.verdicts(run) == ["skipped"]
        assert "automated" in run.settled[0].outcome.reason
        assert (world.agent.asked, world.inbox.entries) == ([], {})

    def test_a_reply_of_what_is_stored_and_what_was_forgotten_is_no_fault_of_the_session(self, world: World) -> None:
        known = note("Locks die with their holder")
        world.capture("s1", "Remember: locks die with their holder")
        assert world.verdicts(world.run()) == ["written"]
        gone = note("The gate code is 4711", "The harbour gate opens with the code 4711.")
        world.tombstones.put(EntryTombstone("id__aaaaaa", NOON_MS * 2, statement_hashes(gone["title"], gone["body"])))
        world.agent.answers = [entries(known, gone)]
        world.capture("s2", "Remember: locks die with their holder, and the gate code")
        assert world.verdicts(world.run()) == ["skipped"]

    def test_where_no_directory_tells_the_repository_the_captures_word_counts(self, world: World) -> None:
        world.histories.put("s1", history("s1", "Remember: locks die"))
        world.inbox.put(evolve(ENTRY, context=Context(cwd=CWD, repo="github.com/dana/elsewhere"))).unwrap()
        run_over(evolve(world.io(), scope_of=lambda _: GLOBAL_SCOPE))
        assert [each.meta.scope for each in world.listed()] == ["github.com/dana/elsewhere"]


class TestABug:
    DEFECT = Defect("fetch_history", "ZeroDivisionError: by nought")

    def test_met_while_a_session_is_read_it_costs_that_one_an_attempt(self, world: World) -> None:
        class Broken(DictHistories):
            def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
                if isinstance(entry.retrieval, SessionFile):
                    raise ZeroDivisionError("by nought")
                return super().fetch(entry, mark)

        world.capture("s1", "one")
        world.capture_note("Deploys", "They run from main only")
        world.agent.answers = [entries(note("Deploys", "They run from main only"))]
        run = run_over(evolve(world.io(), histories=Broken()))
        assert sorted(world.verdicts(run)) == ["refused", "written"]
        assert [trouble.attempts for trouble in world.inbox.troubles] == [1]

    def test_met_while_notes_are_written_it_fails_the_run(self, world: World) -> None:
        run = Run("run-1", NOON_MS, work=Work(Pending(ENTRY, "one.json", ("one.json",))))
        assert rescue(world.io(), "write_entries", run, self.DEFECT) == Failure(self.DEFECT)
        assert rescue(world.io(), "run_agent", evolve(run, work=None), self.DEFECT) == Failure(self.DEFECT)
