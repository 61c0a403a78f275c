"""The service and the tiers: what a person vouches for is in front of every agent at once."""

from __future__ import annotations

import pytest
from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.acts.service import MemoryService
from agent_memory.caller import Caller
from agent_memory.errors import Error, StoreIo
from agent_memory.note.note import TIERS_FILE, Status, Tier, TierList
from agent_memory.recall.known_notes import KnownNotes
from agent_memory.recall.note_index import NoteIndex
from agent_memory.recall.reading import ListFilter, Reading
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.published import Published
from agent_memory.store.recorded_writes import RecordedWrites
from stand_ins.dict_locks import DictLocks
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary_records import TemporaryUsageLedger
from stand_ins.temporary_store import TemporaryStore

FAILING = StoreIo(TIERS_FILE, "open", "EIO", "Input/output error")


class StoreOnAFailingDisk(TemporaryStore):
    def tiers(self) -> Result[TierList, Error]:
        return Failure(FAILING)


@define
class World:
    """One store, and how often the targets were published."""

    store: TemporaryStore = field(factory=TemporaryStore)
    recorder: DictRecorder = field(factory=DictRecorder)
    warnings: list[str] = field(factory=list[str])
    publications: int = 0
    result: Result[Published, Error] = Success(Published())
    now_ms_: int = 1_771_000_000_000

    def now_ms(self) -> int:
        self.now_ms_ += 1
        return self.now_ms_

    def publish(self) -> Result[Published, Error]:
        self.publications += 1
        return self.result

    def service(self, caller: Caller = Caller()) -> MemoryService:  # noqa: B008 - frozen
        writes = RecordedWrites(self.store, self.recorder, DictLocks(), caller, self.warnings.append, self.publish)
        return MemoryService(
            writes, TemporaryUsageLedger(), self, lambda: KnownNotes(self.store, NoteIndex(self.store.files))
        )

    def note(self, body: str) -> str:
        return self.service().remember(NoteDraft(body)).unwrap().stored.meta.id

    def tier(self, hot: tuple[str, ...] = (), warm: tuple[str, ...] = ()) -> None:
        self.store.apply([], tiers=TierList(hot, warm)).unwrap()


def reading(service: MemoryService) -> Reading:
    return Reading(service.store, service.ledger, service.clock, service.caller)


@pytest.fixture
def world() -> World:
    return World()


def test_promoting_again_makes_hot_again_what_defrag_had_moved(world: World) -> None:
    id = world.note("Kites need wind.")
    world.service().promote(id).unwrap()
    world.tier((), (id,))
    stored = world.service().promote(id).unwrap()
    assert stored.meta.promoted_by == "person"
    assert world.store.tiers().unwrap() == TierList((id,))
    assert world.recorder.commits[-1].paths == (TIERS_FILE,)


def test_what_is_hot_counts_as_promoted_and_no_note_says_so(world: World) -> None:
    hot, warm, cold = world.note("The lamp listens."), world.note("Kites need wind."), world.note("Ovens are hot.")
    world.tier((hot,), (warm,))
    listed = reading(world.service()).list(ListFilter()).unwrap().entries
    assert {each.listed.meta.id: each.tier for each in listed} == {hot: Tier.HOT, warm: Tier.WARM, cold: Tier.COLD}
    promoted = reading(world.service()).list(ListFilter(status=Status.PROMOTED)).unwrap().entries
    assert [each.listed.meta.id for each in promoted] == [hot]
    captured = reading(world.service()).list(ListFilter(status=Status.CAPTURED)).unwrap().entries
    assert {each.listed.meta.id for each in captured} == {warm, cold}
    assert promoted[0].listed.meta.status is Status.CAPTURED


@pytest.mark.parametrize("act", ["pin", "promote", "archive"])
def test_where_the_disk_does_not_give_the_tiers_nothing_is_done_p5(act: str) -> None:
    """A half of the act would stay: done again, the note would be found archived, and still be in the list."""
    world = World(store=StoreOnAFailingDisk())
    id = world.note("Kites need wind.")
    before = world.store.read(id)
    world.publications, world.warnings = 0, []
    assert getattr(world.service(), act)(id) == Failure(FAILING)
    assert world.store.read(id) == before
    assert (world.publications, world.warnings) == (0, [])
