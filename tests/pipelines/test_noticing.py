"""What is in a note by itself is noticed once, and again when the note changed."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.adapters.analysis.dict_noticed import DictNoticed
from agent_memory.adapters.store.dict_store import DictStore
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.change import Replace, Retire
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryChanged, EntryNotFound, EntryUnreadable, Error
from agent_memory.pipelines.comparing import analysed
from agent_memory.pipelines.noticing import notice
from pipelines.defrag_world import DefragWorld, TidyingAgent


class WatchedStore(DictStore):
    """One that remembers what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        self.asked.append(id)
        return super().read(id, archived=archived)


def _world(noticed: DictNoticed | None = None) -> DefragWorld:
    return DefragWorld(TidyingAgent([]), store=WatchedStore(), noticed=noticed, compared=None)


def _seen(world: DefragWorld) -> tuple[list[str], list[str]]:
    """The ids that are analysed, and the ones that had to be read for that."""
    assert isinstance(world.store, WatchedStore)
    world.store.asked.clear()
    missed: list[str] = []
    analysis = analysed(world.io(), world.store.list().unwrap().entries, AnalysisFacts(world.clock.now_ms()), missed)
    assert missed == []
    return sorted(analysis.profiles), sorted(world.store.asked)


def test_only_what_changed_is_read_again() -> None:
    world = _world(DictNoticed())
    one = world.note("Port of the lamp", "The lamp listens on port 8080.")
    other = world.note("Owner of the lamp", "Ana owns the lamp.")
    both = sorted((one, other))
    assert _seen(world) == (both, both)
    assert _seen(world) == (both, [])
    stored = world.store.read(other).unwrap()
    changed = MemoryEntry(stored.meta, "Rui owns the lamp.")
    world.store.apply([Replace(changed, stored.listed.content_hash)]).unwrap()
    assert _seen(world) == (both, [other])


def test_without_a_place_to_keep_it_all_is_read_each_time() -> None:
    world = _world()
    one = world.note("Port of the lamp", "The lamp listens on port 8080.")
    assert _seen(world) == _seen(world) == ([one], [one])


def test_words_of_a_secret_note_are_kept_nowhere_else() -> None:
    world = _world(DictNoticed())
    plain = world.note("Port of the lamp", "The lamp listens on port 8080.")
    secret = world.note("Key of the lamp", "It hangs behind the tangerine.", sensitivity=Sensitivity.SECRET)
    _seen(world)
    assert isinstance(world.noticed, DictNoticed)
    assert "tangerin" not in world.noticed.gathered.words
    assert "8080" in world.noticed.gathered.words, "positive control"
    assert _seen(world) == (sorted((plain, secret)), [secret])


class FaultyStore(DictStore):
    """One in which a note is in trouble when it comes to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, Error] = {}

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        return Failure(self.errors[id]) if id in self.errors else super().read(id, archived=archived)


def _faulty() -> tuple[DefragWorld, FaultyStore, str, str]:
    store = FaultyStore()
    world = DefragWorld(TidyingAgent([]), store=store, noticed=None)
    one = world.note("Port of the lamp", "The lamp listens on port 8080.")
    return world, store, one, world.note("Owner of the lamp", "Ana owns the lamp.")


@pytest.mark.parametrize("error", [EntryNotFound("id__aaaaaa"), EntryChanged("id__aaaaaa")])
def test_a_note_that_went_away_meanwhile_is_not_missed(error: Error) -> None:
    world, store, one, other = _faulty()
    store.errors[one] = error
    missed: list[str] = []
    found = [listed.meta.id for listed, _ in notice(world.io(), store.list().unwrap().entries, Vocabulary(), missed)]
    assert (found, missed) == ([other], [])


def test_a_note_that_was_merged_into_another_meanwhile_is_noticed_once() -> None:
    world, store, one, other = _faulty()
    listed = store.list().unwrap().entries
    gone = store.read(one).unwrap()
    into = store.read(other).unwrap()
    merged = MemoryEntry(evolve(into.meta, aliases=(one,)), into.body)
    changes = (Retire(one, gone.listed.content_hash), Replace(merged, into.listed.content_hash))
    assert len(store.apply(changes).unwrap().applied) == 2
    missed: list[str] = []
    assert [listed.meta.id for listed, _ in notice(world.io(), listed, Vocabulary(), missed)] == [other]
    assert missed == []


def test_a_note_that_cannot_be_read_is_named_and_hides_no_other_p6() -> None:
    world, store, one, other = _faulty()
    store.errors[one] = EntryUnreadable("topics/x.md", ("no frontmatter",))
    missed: list[str] = []
    found = [listed.meta.id for listed, _ in notice(world.io(), store.list().unwrap().entries, Vocabulary(), missed)]
    (words,) = missed
    assert found == [other]
    assert one in words
    assert "was left out" in words
