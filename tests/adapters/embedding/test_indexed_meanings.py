from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters import embedding
from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.embedding import IndexedMeanings
from agent_memory.adapters.store.note_index import NoteIndex
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.searching.search import Nearness
from agent_memory.domain.searching.terms import weighed_words
from agent_memory.domain.text.file_name import mint_id
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error, StoreIo
from one_change import delete, write
from stand_ins.dict_embedder import DictEmbedder

BROKEN: Error = StoreIo("weights", "read", "EIO", "broken")
_times = count(1)


class CountingEmbedder(DictEmbedder):
    """Remembers which texts it was asked for."""

    def __init__(self) -> None:
        super().__init__({"motor": "engin"})
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        self.asked += texts
        return super().embed(texts)


ENGINE = (("engine", 1.0),)


class World:
    def __init__(self, root: Path) -> None:
        self.store = StoreFiles(root, KernelLocks(root))
        self.index = NoteIndex(self.store.files)
        self.embedder = CountingEmbedder()
        self.meanings = IndexedMeanings(self.index, self.store, self.embedder, seconds=lambda: 0.0)

    def put(self, title: str, body: str = "It is so.", **values: Any) -> int:
        at_ms = next(_times)
        meta = evolve(Meta(mint_id(title, at_ms, ()), title, created_at_ms=at_ms, updated_at_ms=at_ms), **values)
        assert isinstance(write(self.store, MemoryEntry(meta, body), None), Success)
        assert isinstance(self.index.refresh(), Success)
        return self.index.numbers_of([meta.id]).unwrap()[meta.id]

    def near(self, query: str) -> Nearness:
        return self.meanings.near(weighed_words(query, {})).unwrap()


@pytest.fixture
def world(root: Path) -> World:
    world = World(root)
    for number in range(20):
        world.put(f"Something else {number}", f"Unlike matter{number} of kind{number * 7}.")
    return world


def test_the_nearest_in_meaning_stands_out_though_it_shares_no_word(world: World) -> None:
    wanted = world.put("Engine", "The engine overheats.")
    found = world.near("motor overheats")
    assert max(found.deviations, key=lambda number: found.deviations[number]) == wanted
    assert found.deviations[wanted] > 2
    assert found.cosines[wanted] > 0.5
    assert found.notices == ()


def test_a_note_is_embedded_once_until_it_changes(world: World) -> None:
    number = world.put("Engine", "The engine overheats.")
    world.near("engine")
    assert len(world.embedder.asked) == 21
    world.near("engine")
    assert len(world.embedder.asked) == 21
    [note] = world.index.notes([number]).unwrap().values()
    stored = world.store.read(note.meta.id).unwrap()
    changed = evolve(stored.entry, body="The kettle whistles.")
    assert isinstance(write(world.store, changed, stored.listed.content_hash), Success)
    assert isinstance(world.index.refresh(), Success)
    world.near("kettle")
    [again] = world.embedder.asked[21:]
    assert again.splitlines()[-1] == "The kettle whistles."


def test_a_secret_is_not_embedded(world: World) -> None:
    world.near("engine")
    asked = len(world.embedder.asked)
    assert isinstance(write(world.store, MemoryEntry(secret_meta(), "The engine's code is 1234."), None), Success)
    assert isinstance(world.index.refresh(), Success)
    world.near("engine")
    assert len(world.embedder.asked) == asked == 20


def secret_meta() -> Meta:
    return Meta("id__abcdef", "Engine code", created_at_ms=1, updated_at_ms=1, sensitivity=Sensitivity.SECRET)


def test_when_time_is_up_the_rest_is_told_and_done_by_the_next_search(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_AT_ONCE", 8)
    wanted = world.put("Engine", "The engine overheats.")
    slow = IndexedMeanings(world.index, world.store, world.embedder, seconds=count(0, 0.9).__next__)
    assert "5 notes" in " ".join(slow.near(ENGINE).unwrap().notices)
    later = slow.near(ENGINE).unwrap()
    assert later.notices == ()
    assert wanted in later.cosines


def test_without_its_model_the_search_goes_on_and_says_so(world: World) -> None:
    class Broken(DictEmbedder):
        def embed_words(self, words: Sequence[tuple[str, float]]) -> Result[bytes, Error]:
            return Failure(BROKEN)

    found = IndexedMeanings(world.index, world.store, Broken()).near(ENGINE).unwrap()
    assert found.cosines == {}
    assert "weights" in found.notices[0]


def test_a_note_that_cannot_be_read_is_left_for_another_time(world: World) -> None:
    gone = world.put("Engine", "The engine overheats.")
    [note] = world.index.notes([gone]).unwrap().values()
    assert isinstance(delete(world.store, note.meta.id), Success)
    found = world.near("engine overheats")
    assert gone not in found.cosines
    assert found.notices == ()


def test_a_rare_word_counts_more_than_one_that_is_everywhere(world: World) -> None:
    rare, common = world.put("Zebra", "Zebra."), world.put("Engine", "Engine.")
    alike = world.meanings.near((("zebra", 1.0), ("engine", 1.0))).unwrap().deviations
    weighed = world.meanings.near((("zebra", 5.0), ("engine", 1.0))).unwrap().deviations
    assert weighed[rare] - weighed[common] > alike[rare] - alike[common]


def test_where_vectors_cannot_be_kept_the_others_are_searched(world: World) -> None:
    wanted = world.put("Engine", "The engine overheats.")
    world.near("engine")
    world.put("Engine room", "The engine room is hot.")

    class Full(NoteIndex):
        def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
            return Failure(StoreIo(".cache", "write", "ENOSPC", "no space"))

        def vectors(self, model: str) -> Result[Mapping[int, bytes], Error]:
            return world.index.vectors(model)

        def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
            return world.index.without_vector(model)

    found = IndexedMeanings(Full(world.store.files), world.store, world.embedder).near(ENGINE).unwrap()
    assert wanted in found.cosines
    assert found.notices == ("One note is not searched by meaning yet; the next searches go on with it.",)
