"""The story of a handover: which session it is, what is read of it, and the one note that it is kept in."""

from __future__ import annotations

from itertools import chain
from typing import Final

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.caller import Caller
from agent_memory.capture.switches import Switches
from agent_memory.care.tombstones import Tombstones
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StateCorrupt, StoreIo, UsageInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Harness, MemoryEntry, StoredEntry
from agent_memory.pipelines.handing_over import HandingOverIo, Kept, Taken, keep_handover, take_named, take_newest
from agent_memory.ports import HistorySource
from agent_memory.rules.change import Change
from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone, statement_hashes
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.queue import Context, InboxEntry, SessionFile
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.text.instants import DAY_MS
from pipelines.consolidate_world import CWD, NOON_MS, PLENTY, REPO, history
from stand_ins.dict_clock import DictClock
from stand_ins.dict_histories import DictHistories
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary import TemporaryStore, temporary_locks, temporary_root

CLAUDE = Harness.CLAUDE_CODE
METHOD: Final = "claude-code-session"
ASKED = ("Please move the parcels API to port 8123 and update the docs", "and keep the old port open until Friday")


@define
class Handing:
    """Sessions, the newest first, and one store."""

    sessions: list[InboxEntry] = field(factory=list)
    unseen: list[Error] = field(factory=list)
    """Why captures cannot be looked at."""
    source: DictHistories = field(factory=DictHistories)
    histories: HistorySource | None = None
    kept: KeptHistories = field(factory=lambda: KeptHistories(temporary_root(), PLENTY))
    tombstones: Tombstones = field(factory=lambda: Tombstones(temporary_root()))
    store: TemporaryStore = field(factory=TemporaryStore)
    recorder: DictRecorder = field(factory=DictRecorder)
    clock: DictClock = field(factory=lambda: DictClock(NOON_MS + 60_000))
    warnings: list[str] = field(factory=list)

    def session(self, session_id: str, held: History | Error | None = None, cwd: str = CWD) -> InboxEntry:
        self.source.put(session_id, history(session_id, *ASKED) if held is None else held)
        entry = InboxEntry(NOON_MS, CLAUDE, SessionFile(METHOD, session_id), Context(cwd=cwd))
        self.sessions.insert(0, entry)
        return entry

    def io(self) -> HandingOverIo:
        return HandingOverIo(
            switches=lambda: Switches({"HOME": "/dev/null/none"}),
            histories=self.histories or self.source,
            kept=self.kept,
            tombstones=self.tombstones,
            scope_of=lambda cwd: REPO if cwd == CWD else GLOBAL_SCOPE,
            writes=RecordedWrites(self.store, self.recorder, temporary_locks(), Caller(), self.warnings.append),
            clock=self.clock,
            recent=lambda: chain(map(Failure, self.unseen), map(Success, self.sessions)),
        )

    def named(self, session_id: str, *guesses: InboxEntry) -> Result[Taken, Error]:
        return take_named(self.io(), session_id, None, guesses)

    def newest(self, harness: Harness | None = None) -> Result[Taken, Error]:
        return take_newest(self.io(), REPO, harness)

    def keep(self, session_id: str = "s1") -> Kept:
        return keep_handover(self.io(), self.named(session_id).unwrap()).unwrap()

    def notes(self) -> list[StoredEntry]:
        return [self.store.read(each.meta.id).unwrap() for each in self.store.list().unwrap().entries]


@pytest.fixture
def handing() -> Handing:
    return Handing()


def guess(harness: Harness, session_id: str) -> InboxEntry:
    return InboxEntry(NOON_MS, harness, SessionFile(METHOD, session_id), Context(cwd=CWD))


def nobody_asked(session_id: str) -> History:
    turn = Turn(1, Role.AGENT, "Nothing to do.", "record-1", NOON_MS)
    return History(CLAUDE, session_id, (turn,), cwd=CWD)


class TestASessionByItsId:
    def test_where_not_all_captures_can_be_looked_at_it_is_not_unknown_p6(self, handing: Handing) -> None:
        unseen = StoreIo("inbox", "list", "EIO", "Input/output error")
        handing.unseen.append(unseen)
        assert handing.named("s1") == Failure(unseen)
        handing.session("s1")
        assert handing.named("s1").unwrap().handover.session_id == "s1"

    def test_of_the_guesses_the_first_that_can_be_read_is_taken(self, handing: Handing) -> None:
        class OfCodex(DictHistories):
            def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
                absent = HistoryUnavailable("s1", "there is no such file")
                return super().fetch(entry, mark) if entry.harness is Harness.CODEX else Failure(absent)

        handing.histories = OfCodex({"s1": history("s1", *ASKED)})
        second = evolve(guess(Harness.CODEX, "s1"), retrieval=SessionFile("codex-session", "s1"))
        assert handing.named("s1", guess(CLAUDE, "s1"), second).unwrap().entry == second

    @pytest.mark.parametrize(("own_call", "automated"), [(True, False), (False, True)])
    def test_one_without_a_person_hands_nothing_over(self, handing: Handing, own_call: bool, automated: bool) -> None:
        handing.session("s1", evolve(history("s1", *ASKED), own_call=own_call, automated=automated))
        assert isinstance(handing.named("s1").failure(), UsageInvalid)

    def test_nothing_is_read_while_it_is_unknown_what_was_forgotten_p28(self, handing: Handing) -> None:
        class Damaged(Tombstones):
            def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
                return Failure(StateCorrupt("state/forgotten/s1.json", ("no",)))

        handing.session("s1")
        handing.tombstones = Damaged(temporary_root())
        assert isinstance(handing.named("s1").failure(), StateCorrupt)

    def test_where_the_transcript_is_gone_what_was_kept_of_it_is_read(self, handing: Handing) -> None:
        gone = HistoryUnavailable("s1", "the transcript is gone")
        handing.session("s1", gone)
        assert handing.named("s1") == Failure(gone)
        handing.kept.keep(history("s1", *ASKED)).unwrap()
        assert [turn.text for turn in handing.named("s1").unwrap().history.turns] == list(ASKED)


@define
class Parts:
    """A source that gives a session a few turns at a time."""

    whole: History
    size: int
    fails_after: int | None = None
    fetched: int = 0

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        self.fetched += 1
        if self.fails_after is not None and self.fetched > self.fails_after:
            return Failure(HistoryUnreadable("s1", "it ends in the middle"))
        left = [turn for turn in self.whole.turns if mark is None or turn.number > mark.turns_seen]
        return Success(evolve(self.whole, turns=tuple(left[: self.size]), remaining=len(left) > self.size))


class TestALongSession:
    TEXTS = tuple(f"step {number}: please move part {number}" for number in range(1, 8))

    def test_its_beginning_and_its_last_part_are_read(self, handing: Handing) -> None:
        handing.session("s1")
        handing.histories = Parts(history("s1", *self.TEXTS), 2)
        assert [turn.number for turn in handing.named("s1").unwrap().history.turns] == [1, 2, 7]

    def test_one_that_cannot_be_read_to_its_end_is_not_handed_over_in_part(self, handing: Handing) -> None:
        handing.session("s1")
        handing.histories = Parts(history("s1", *self.TEXTS), 2, fails_after=2)
        assert isinstance(handing.named("s1").failure(), HistoryUnreadable)

    def test_one_that_never_ends_is_left_after_a_while(self, handing: Handing) -> None:
        endless = Parts(history("s1", *(f"please move part {number}" for number in range(1, 400))), 1)
        handing.session("s1")
        handing.histories = endless
        assert [turn.number for turn in handing.named("s1").unwrap().history.turns] == [1, 257]
        assert endless.fetched == 257


class TestTheNewestOfAPlace:
    def test_where_not_all_captures_can_be_looked_at_the_newest_is_not_known_p6(self, handing: Handing) -> None:
        handing.session("s1")
        unseen = StoreIo("inbox", "list", "EIO", "Input/output error")
        handing.unseen.append(unseen)
        assert handing.newest() == Failure(unseen)

    def test_one_in_which_nobody_asked_and_one_that_is_gone_are_passed_over(self, handing: Handing) -> None:
        handing.session("s1")
        handing.session("s2", nobody_asked("s2"))
        handing.session("s3", HistoryUnavailable("s3", "gone"))
        assert handing.newest().unwrap().handover.session_id == "s1"

    def test_a_session_is_tried_once_and_not_all_sessions_are(self, handing: Handing) -> None:
        handing.session("reached")
        for number in range(20):
            entry = handing.session(f"s{number}", HistoryUnavailable(f"s{number}", "gone"))
            handing.sessions.insert(0, entry)
        assert isinstance(handing.newest().failure(), HistoryUnavailable)
        handing.sessions = handing.sessions[2:]
        assert handing.newest().unwrap().handover.session_id == "reached"


class TestItsNote:
    def test_one_that_the_person_pinned_stays_as_it_is(self, handing: Handing) -> None:
        handing.session("s1")
        id = handing.keep().id
        (note,) = handing.notes()
        pinned = MemoryEntry(evolve(note.meta, pinned=True), "As I want it.")
        handing.store.apply([Change.of(pinned, note.listed.content_hash)]).unwrap()
        assert handing.keep() == Kept(None, f"{id} is pinned, and stays as it is")
        assert [each.body.strip() for each in handing.notes()] == ["As I want it."]

    def test_one_that_was_forgotten_does_not_come_back_p28(self, handing: Handing) -> None:
        handing.session("s1")
        id = handing.keep().id or ""
        (note,) = handing.notes()
        said = frozenset(statement_hashes(note.meta.title, note.body))
        handing.store = TemporaryStore()
        handing.tombstones.put(EntryTombstone(id, NOON_MS + DAY_MS, said)).unwrap()
        assert handing.keep() == Kept(None, "its note was forgotten")
        assert handing.notes() == []
