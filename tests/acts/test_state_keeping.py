"""What may be kept as state, and how it is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.acts.keeping import StateKeeping, TagKeeping
from agent_memory.caller import Caller
from agent_memory.errors import Error, StateCorrupt, StateInvalid, StateNotFound, StoreIo
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.note.tagging import TagVocabulary
from agent_memory.rules.change import Change, Published
from agent_memory.store.bookkeeping import MAX_VALUE_BYTES, StateKeysFiles, TagVocabularyFile
from agent_memory.store.recorded_writes import RecordedWrites
from stand_ins.dict_clock import DictClock
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary import TemporaryStore, temporary_locks, temporary_root

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2"


@define
class _World:
    keys: StateKeysFiles = field(factory=lambda: StateKeysFiles(temporary_root()))
    recorder: DictRecorder = field(factory=lambda: DictRecorder())

    def keeping(self, caller: Caller | None = None) -> StateKeeping:
        by = caller or Caller()
        writes = RecordedWrites(TemporaryStore(), self.recorder, temporary_locks(), by, lambda _: None)
        return StateKeeping(writes, self.keys, DictClock())


def value_of(keeping: StateKeeping, key: str) -> Any:
    kept = keeping.get(key).unwrap()
    assert kept is not None
    return json.loads(kept.json)


@pytest.mark.parametrize(
    "key",
    [
        "", ".", "..", "../x", "a/../b", "a//b", "/a", "a/", ".hidden", "a/.git", "-rf", "a b", "a\nb", "a\x00b", "é",
        "x" * 129,
    ],
)  # fmt: skip
def test_hostile_keys_are_refused_before_anything_is_written_p21(key: str) -> None:
    world = _World()
    for refused in (world.keeping().set(key, 1), world.keeping().get(key), world.keeping().delete(key)):
        assert isinstance(refused.failure(), StateInvalid)
    assert list(world.keys.all()) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", "\0", {"a": "\udfff"}, object(), {1, 2}])
def test_what_is_no_json_is_refused(value: object) -> None:
    assert isinstance(_World().keeping().set("k", value).failure(), StateInvalid)


def test_a_value_has_a_limit() -> None:
    keeping = _World().keeping()
    keeping.set("k", "x" * (MAX_VALUE_BYTES - 2)).unwrap()
    assert "at most 262,144" in keeping.set("k", "x" * (MAX_VALUE_BYTES - 1)).failure().problems[0]  # type: ignore[attr-defined]
    assert value_of(keeping, "k").startswith("x")


@pytest.mark.parametrize(
    "value", [TOKEN, [TOKEN], {"note": f"use {TOKEN} here"}, {TOKEN: 1}, {"password": "kL9#mQ2$vX7!pR4z"}]
)
def test_a_secret_is_not_kept_p20(value: object) -> None:
    world = _World()
    world.keeping().set("k", value).unwrap()
    (found,) = world.keys.all()
    kept = found.unwrap().json
    assert "[redacted:" in kept
    assert TOKEN not in kept
    assert "kL9#" not in kept


def test_a_secret_in_a_key_is_refused_p20() -> None:
    assert isinstance(_World().keeping().set(TOKEN, 1).failure(), StateInvalid)


class TestTagsOfTheProject:
    """Agents look for them under `project_tags`."""

    def keeping(self, world: _World, found: Result[TagVocabulary, Error]) -> StateKeeping:
        return evolve(world.keeping(), vocabulary=lambda: found)

    def test_are_those_that_a_person_accepted_until_somebody_keeps_others(self) -> None:
        keeping = self.keeping(_World(), Success(TagVocabulary(frozenset({"topic__deploy", "area__web"}))))
        assert value_of(keeping, "project_tags") == {"vocabulary": ["area__web", "deploy"]}
        assert keeping.list().values == ()
        assert isinstance(keeping.delete("project_tags").failure(), StateNotFound)
        keeping.set("project_tags", ["mine"]).unwrap()
        assert value_of(keeping, "project_tags") == ["mine"]

    def test_that_cannot_be_read_are_not_taken_for_none_p6(self) -> None:
        corrupt: Result[TagVocabulary, Error] = Failure(StateCorrupt("state/project_tags.json", ("it is no JSON",)))
        assert self.keeping(_World(), corrupt).get("project_tags") == corrupt
        assert self.keeping(_World(), corrupt).get("phase") == Success(None)


# -- tags kept in order, over adapters in memory: what is recorded, what is left, and what a crash leaves --------------


FULL = StoreIo("/srv", "write", "ENOSPC", "no space left")


@define
class World:
    """A store with its tags."""

    store: TemporaryStore = field(factory=TemporaryStore)
    vocabulary: TagVocabularyFile = field(factory=lambda: TagVocabularyFile(temporary_root()))
    recorder: DictRecorder = field(factory=lambda: DictRecorder())
    warnings: list[str] = field(factory=list[str])
    published: int = 0

    def note(self, letter: str, *tags: str, **meta: Any) -> str:
        whole = Meta(f"id__{letter * 6}", letter, 1_000, 2_000, tags=tags, **meta)
        self.store.apply([Change.of(MemoryEntry(whole, f"Body of {letter}."))]).unwrap()
        return whole.id

    def tags(self, caller: Caller | None = None) -> TagKeeping:
        by = caller or Caller()
        writes = RecordedWrites(self.store, self.recorder, temporary_locks(), by, self.warnings.append, self._publish)
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
