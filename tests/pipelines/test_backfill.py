from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.capture.inbox_files import Inbox
from agent_memory.capture.switches import Switches
from agent_memory.care.tombstones import Tombstones
from agent_memory.errors import Error, HistoryUnavailable, StateCorrupt, StoreIo
from agent_memory.note.note import Harness, Listed, Listing, Meta, Source
from agent_memory.pipelines.backfill import BackfillIo, plan_backfill, project_directories, put_backfill
from agent_memory.rules.forgotten import SessionTombstone
from agent_memory.session.found_session import Backfill, FoundSession
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.queue import BACKFILL_EVENT, Context, InboxEntry, Outcome, SessionFile
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.text.instants import DAY_MS
from pipelines.consolidate_world import CWD, NOON_MS, REPO, World, history, skipped, turns
from stand_ins.scripted_agent import ScriptedAgent


@define
class DictFinder:
    """`ports.SessionFinder` over a dict, by session id, and errors that it meets on the way."""

    sessions: dict[str, FoundSession] = field(factory=dict[str, FoundSession])
    errors: list[Error] = field(factory=list[Error])

    def put(self, found: FoundSession) -> None:
        """Find this from now on."""
        self.sessions[found.session_id] = found

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        yield from map(Failure, self.errors)
        for found in list(self.sessions.values()):
            if since_ms is None or found.changed_at_ms >= since_ms:
                yield Success(found)


CLAUDE = Harness.CLAUDE_CODE


@define
class Past:
    """Past sessions, and the store that is to learn from them."""

    world: World = field(factory=lambda: World(ScriptedAgent([skipped()])))
    finder: DictFinder = field(factory=DictFinder)
    shares_record_ids: bool = True

    def session(self, session_id: str, *texts: str, at_ms: int = NOON_MS, said: Sequence[Turn] = ()) -> None:
        """One whose last turn was at this time (by the second of its turns)."""
        shift = at_ms - NOON_MS
        made = tuple(said) or turns(*texts)
        moved = tuple(evolve(turn, at_ms=None if turn.at_ms is None else turn.at_ms + shift) for turn in made)
        own = evolve(
            history(session_id, "x"),
            turns=moved if said else tuple(evolve(t, record_id=f"{session_id}-{t.record_id}") for t in moved),
            ended_at_ms=moved[-1].at_ms,
            branch="main",
        )
        self.put(session_id, own, at_ms)

    def put(self, session_id: str, found: History | Error, at_ms: int = NOON_MS) -> None:
        self.world.histories.put(session_id, found)
        retrieval = SessionFile("claude-code-session", session_id, f"/t/{session_id}.jsonl")
        self.finder.put(
            FoundSession(CLAUDE, retrieval, at_ms + 60_000, 1_000, shares_record_ids=self.shares_record_ids)
        )

    def io(self) -> BackfillIo:
        return BackfillIo(
            finders={CLAUDE: self.finder},
            histories=self.world.histories,
            inbox=self.world.inbox,
            marks=self.world.marks,
            clock=self.world.clock,
            calls_for=lambda history: 1 + len(history.turns) // 100,
            repo_of={CWD: REPO}.get,
            is_private=lambda directory: directory.startswith("/private"),
            tombstones=self.world.tombstones,
            switches=lambda: Switches({"HOME": "/dev/null/none"}),
        )

    def plan(self, since_ms: int | None = None) -> Backfill:
        return plan_backfill(self.io(), (), since_ms).unwrap()

    def backfill(self, since_ms: int | None = None) -> Backfill:
        return put_backfill(self.io(), self.plan(since_ms)).unwrap()

    def sights(self) -> dict[str, str]:
        return {each.found.session_id: each.sight for each in self.plan().sighted}

    def waiting(self) -> list[InboxEntry]:
        return [self.world.inbox.entries[name] for name in sorted(self.world.inbox.entries)]


def uuids(said: Sequence[Turn]) -> tuple[Turn, ...]:
    """The same turns with record ids that no other session has, unless it copied them."""
    return tuple(evolve(turn, record_id=f"7c9e6679-7425-40de-944b-{turn.record_id}") for turn in said)


@pytest.fixture
def past() -> Past:
    past = Past()
    past.world.clock.at_ms = NOON_MS + 30 * DAY_MS
    return past


def test_a_resumed_copy_is_learnt_from_where_it_goes_on(past: Past) -> None:
    original = uuids(turns("one", "two", "three"))
    past.session("s1", said=original)
    past.session("s2", said=(*original, *uuids(turns("four", first=4))), at_ms=NOON_MS + 1)
    past.session("s3", said=original, at_ms=NOON_MS + 2)
    assert past.sights() == {"s1": "new", "s2": "new", "s3": "copy"}
    past.backfill()
    past.world.run()
    assert [[t.number for t in each.window.turns] for each in past.world.agent.asked] == [[1, 2, 3], [4]]
    assert past.sights() == {"s1": "done", "s2": "done", "s3": "done"}


def test_a_fork_from_the_middle_is_learnt_from_its_fork(past: Past) -> None:
    shared = uuids(turns("one", "two"))
    (tool,) = uuids((Turn(2, Role.TOOL, "said by a page", "record-t", NOON_MS),))
    past.session("s1", said=(shared[0], tool, *uuids(turns("a three", first=3))))
    fork = evolve(turns("b three", first=3)[0], record_id="fork-3")
    past.session("s2", said=(shared[0], tool, fork), at_ms=NOON_MS + 1)
    past.backfill()
    past.world.run()
    window = past.world.agent.asked[-1].window
    assert [turn.text for turn in window.turns] == ["b three"]
    assert window.tools_answered_before  # P19


def test_where_record_ids_mean_nothing_elsewhere_equal_ones_are_no_copies(past: Past) -> None:
    past.shares_record_ids = False
    past.session("s1", said=uuids(turns("one", "two")))
    past.session("s2", said=uuids(turns("quite", "different")), at_ms=NOON_MS + 1)
    assert past.sights() == {"s1": "new", "s2": "new"}


def test_sessions_of_our_own_directories_and_empty_ones_are_left_out_p23(past: Past) -> None:
    past.put("private", evolve(history("private", "x"), cwd="/private/child"))
    past.put("empty", evolve(history("empty", "x"), turns=()))
    assert past.sights() == {"private": "own-call", "empty": "empty"}


def test_why_sessions_cannot_be_listed_is_told_in_its_own_words() -> None:
    past = Past()
    past.finder.errors.append(HistoryUnavailable("all of them", "the command amp is not logged in"))
    (problem,) = past.plan().problems
    assert problem == "Past sessions of claude-code could not all be listed: the command amp is not logged in"


def test_a_session_that_was_given_up_is_not_taken_up_until_it_changes(past: Past) -> None:
    past.session("s1", "one")
    past.backfill()
    (pending,) = past.world.inbox.load(past.world.clock.at_ms).unwrap().pending
    past.world.inbox.give_up(pending, Outcome("gave-up", "r", past.world.clock.at_ms)).unwrap()
    assert past.sights() == {"s1": "given-up"}
    past.session("s1", "one", "two", at_ms=past.world.clock.at_ms + 1)
    assert past.sights() == {"s1": "new"}


def test_a_harness_that_knows_the_end_of_a_session_need_not_be_read(past: Past) -> None:
    past.put("s1", HistoryUnavailable("s1", "it must not be asked for"))
    past.finder.put(evolve(past.finder.sessions["s1"], ended_at_ms=NOON_MS))
    past.world.marks.put(SessionMark(CLAUDE, "s1", "r", NOON_MS, 3, False, "builtin")).unwrap()
    assert past.sights() == {"s1": "done"}
    past.finder.put(evolve(past.finder.sessions["s1"], ended_at_ms=NOON_MS + 1))
    assert past.sights() == {"s1": "unreadable"}


def test_a_damaged_mark_is_no_session_unseen_p6(past: Past) -> None:
    past.session("s1", "one")
    corrupt: Failure[Error] = Failure(StateCorrupt("state/sessions/x", ("no",)))

    class Damaged(SessionMarks):
        def get(self, *_: object) -> Result[SessionMark | None, Error]:
            return corrupt

        def all(self) -> Iterator[Result[SessionMark, Error]]:
            return iter([corrupt])

    io = evolve(past.io(), marks=Damaged(past.world.root))
    plan = plan_backfill(io).unwrap()
    assert [each.sight for each in plan.sighted] == ["unreadable"]


def test_a_hostile_branch_or_directory_costs_the_context_and_not_the_session(past: Past) -> None:
    past.put("s1", evolve(history("s1", "x"), cwd="relative\x00", branch="\x1b[2J"))
    assert past.backfill().problems == ()
    (entry,) = past.waiting()
    assert entry.context == Context(event=BACKFILL_EVENT)


def test_an_id_that_no_entry_may_have_is_told_p21(past: Past) -> None:
    past.put("--help;rm", history("--help;rm", "x"))
    past.session("s1", "x")
    assert len(past.backfill().problems) == 1
    assert len(past.waiting()) == 1


def test_a_copy_whose_mark_cannot_be_put_ends_it_before_anything_waits(past: Past) -> None:
    """P5: without its mark nothing would tell later that it is a copy."""
    original = uuids(turns("one", "two"))
    past.session("s1", said=original)
    past.session("s2", said=original, at_ms=NOON_MS + 1)
    full = StoreIo("state/sessions", "write to", "ENOSPC", "No space left on device")

    class Full(SessionMarks):
        def put(self, mark: SessionMark) -> Result[None, Error]:
            return Failure(full)

    plan = past.plan()
    assert [each.sight for each in plan.sighted] == ["new", "copy"]
    assert put_backfill(evolve(past.io(), marks=Full(past.world.root)), plan) == Failure(full)
    assert past.waiting() == []


def test_while_it_is_unknown_what_was_forgotten_no_session_is_taken_p28(past: Past) -> None:
    class Damaged(Tombstones):
        def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
            return Failure(StateCorrupt("state/forgotten/s1.json", ("no",)))

    past.session("s1", "one")
    known, past.world.tombstones = past.world.tombstones, Damaged(past.world.root)
    assert past.sights() == {"s1": "unreadable"}
    past.world.tombstones = known
    assert past.sights() == {"s1": "new"}, "positive control"


# -- where sessions are known to have been: by the inbox, and by the notes ---------------------------------------------


NOW_MS = 1_770_000_000_000
REFUSED = StoreIo("inbox", "list", "EACCES", "Permission denied")


def listing(*entries: tuple[int, tuple[str | None, ...]]) -> Result[Listing, Error]:
    listed = (
        Listed(Meta("id", "t", 0, at_ms, sources=tuple(Source(Harness.PI, cwd=cwd) for cwd in cwds)), "p", "h")
        for at_ms, cwds in entries
    )
    return Success(Listing(tuple(listed)))


def waiting(inbox: Inbox, at_ms: int, cwd: str | None) -> None:
    session = SessionFile("pi-session", f"s{at_ms}", "/x.jsonl")
    inbox.put(InboxEntry(at_ms, Harness.PI, session, Context(cwd=cwd))).unwrap()


def dealt_with(inbox: Inbox) -> None:
    for pending in inbox.load(NOW_MS).unwrap().pending:
        inbox.retire(pending, Outcome("written", "run-1", NOW_MS)).unwrap()


def test_each_directory_comes_once_those_of_sessions_first_then_the_entries_changed_last() -> None:
    entries = listing((1, ("/old",)), (2, ("/new", "/of-session", None)))
    found = project_directories([Success("/of-session"), Success("relative"), Success("/of-session")], entries)
    assert [each.unwrap() for each in found] == ["/of-session", "/new", "/old"]


def test_what_cannot_be_listed_is_an_error_and_hides_nothing_else_p6() -> None:
    found = list(project_directories([Failure(REFUSED), Success("/a")], Failure(REFUSED)))
    assert found == [Failure(REFUSED), Success("/a"), Failure(REFUSED)]


def test_the_inbox_tells_of_what_waits_and_of_the_newest_that_was_dealt_with(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for at_ms, cwd in ((1, "/first"), (2, "/second"), (3, "/third")):
        waiting(inbox, at_ms, cwd)
    dealt_with(inbox)
    waiting(inbox, 4, "/waits")
    waiting(inbox, 5, None)
    assert [each.unwrap() for each in inbox.directories(4)] == ["/waits", "/third", "/second"]
    assert list(Inbox(tmp_path / "nowhere").directories(2)) == []


def test_an_inbox_that_cannot_be_read_is_an_error_p6(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    waiting(inbox, 1, "/here")
    (tmp_path / "inbox" / ".processed").symlink_to(tmp_path.parent)
    error, here = inbox.directories(10)
    assert here.unwrap() == "/here"
    assert isinstance(error, Failure)
