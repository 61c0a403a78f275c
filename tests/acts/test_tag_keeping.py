"""Tags kept in order, over adapters in memory: what is recorded, what is left, and what a crash leaves."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.acts.keeping import TagKeeping
from agent_memory.caller import Caller
from agent_memory.errors import Error, StoreIo, UsageInvalid
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.change import Change
from agent_memory.rules.section import Published
from agent_memory.store.recorded_writes import RecordedWrites
from stand_ins.dict_locks import DictLocks
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary_records import TemporaryTagVocabulary
from stand_ins.temporary_store import TemporaryStore

FULL = StoreIo("/srv", "write", "ENOSPC", "no space left")


@define
class World:
    """A store with its tags."""

    store: TemporaryStore = field(factory=TemporaryStore)
    vocabulary: TemporaryTagVocabulary = field(factory=TemporaryTagVocabulary)
    recorder: DictRecorder = field(factory=lambda: DictRecorder())
    warnings: list[str] = field(factory=list[str])
    published: int = 0

    def note(self, letter: str, *tags: str, **meta: Any) -> str:
        whole = Meta(f"id__{letter * 6}", letter, 1_000, 2_000, tags=tags, **meta)
        self.store.apply([Change.of(MemoryEntry(whole, f"Body of {letter}."))]).unwrap()
        return whole.id

    def tags(self, caller: Caller | None = None) -> TagKeeping:
        by = caller or Caller()
        writes = RecordedWrites(self.store, self.recorder, DictLocks(), by, self.warnings.append, self._publish)
        return TagKeeping(writes, self.vocabulary)

    def tags_of(self, id: str) -> tuple[str, ...]:
        return self.store.read(id).unwrap().meta.tags

    def _publish(self) -> Result[Published, Error]:
        self.published += 1
        return Success(Published())


class FullDisk(TemporaryStore):
    """Refuses what it is asked to apply, once it is full."""

    full = False

    def apply(self, changes: Any, **more: Any) -> Any:
        return Failure(FULL) if self.full else super().apply(changes, **more)


def test_a_pinned_note_is_retagged_too_since_a_person_asks() -> None:
    world = World()
    pinned = world.note("a", "topic__x", pinned=True, promoted_by="person")
    world.tags().rename("x", "y").unwrap()
    after = world.store.read(pinned).unwrap().meta
    assert (after.tags, after.pinned, after.promoted_by) == (("topic__y",), True, "person")


def test_what_is_cut_short_is_done_by_asking_again() -> None:
    """P2: the vocabulary is written before the notes."""
    store = FullDisk()
    world = World(store)
    one = world.note("a", "topic__x")
    store.full = True
    assert world.tags().rename("x", "y") == Failure(FULL)
    assert world.tags_of(one) == ("topic__x",)
    assert world.vocabulary.get().unwrap().current(("topic__x",)) == ("topic__y",)
    store.full = False
    assert world.tags().rename("x", "y").unwrap().notes == (one,)
    assert world.tags_of(one) == ("topic__y",)


def test_a_tag_that_is_only_accepted_can_be_renamed() -> None:
    world = World()
    world.tags().accept(["x"]).unwrap()
    assert world.tags().rename("x", "y").unwrap().notes == ()
    assert world.vocabulary.get().unwrap().accepted == {"topic__y"}
    assert isinstance(world.tags().rename("nowhere", "y").failure(), UsageInvalid)
