from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Result, Success

from agent_memory.adapters.embedding import indexed_meanings
from agent_memory.adapters.embedding.indexed_meanings import IndexedMeanings
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.searching.indexed_note import Vectors
from agent_memory.domain.searching.matching import NoteFilter
from agent_memory.domain.searching.nearness import Nearness
from agent_memory.domain.searching.query_meaning import WeighedWord, weighed_words
from agent_memory.domain.similarity.vectors import components_of, cosine
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.vocabulary import Kind, Sensitivity
from agent_memory.errors import Error, StoreIo
from plain_index import PlainIndex
from stand_ins.dict_embedder import DictEmbedder
from stand_ins.dict_store import DictStore

ALL = NoteFilter()
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
    def __init__(self) -> None:
        self.store = DictStore()
        self.index = PlainIndex(self.store)
        self.embedder = CountingEmbedder()
        self.meanings = IndexedMeanings(self.index, self.store, self.embedder, seconds=lambda: 0.0)

    def put(self, title: str, body: str = "It is so.", **values: Any) -> int:
        at_ms = next(_times)
        meta = evolve(Meta(mint_id(title, at_ms, ()), title, created_at_ms=at_ms, updated_at_ms=at_ms), **values)
        assert isinstance(self.store.write(MemoryEntry(meta, body), None), Success)
        assert isinstance(self.index.refresh(), Success)
        return self.index.numbers_of([meta.id]).unwrap()[meta.id]

    def near(self, query: str, most: int = 5, also: Sequence[int] = (), among: NoteFilter = ALL) -> Nearness:
        return self.meanings.near(weighed_words(query, {}), most, also, among).unwrap()


@pytest.fixture
def world() -> World:
    world = World()
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


def test_only_so_many_are_found_and_those_that_were_asked_for(world: World) -> None:
    first, second = world.put("Engine of the boat"), world.put("Engine of the car", kind=Kind.DECISION)
    assert set(world.near("engine boat", 1).cosines) == {first}
    assert set(world.near("engine boat", 1, also=(second, 999_999)).cosines) == {first, second}
    assert set(world.near("engine boat", 5, among=NoteFilter(kind=Kind.DECISION)).cosines) == {second}


def test_a_note_is_embedded_once_until_it_changes(world: World) -> None:
    number = world.put("Engine", "The engine overheats.")
    world.near("engine")
    assert len(world.embedder.asked) == 21
    world.near("engine")
    assert len(world.embedder.asked) == 21
    [note] = world.index.notes([number]).unwrap().values()
    stored = world.store.read(note.listed.meta.id).unwrap()
    changed = evolve(stored.entry, body="The kettle whistles.")
    assert isinstance(world.store.write(changed, stored.listed.content_hash), Success)
    assert isinstance(world.index.refresh(), Success)
    world.near("kettle")
    [again] = world.embedder.asked[21:]
    assert again.splitlines()[-1] == "The kettle whistles."


def test_a_secret_is_not_embedded(world: World) -> None:
    world.near("engine")
    asked = len(world.embedder.asked)
    assert isinstance(world.store.write(MemoryEntry(secret_meta(), "The engine's code is 1234."), None), Success)
    assert isinstance(world.index.refresh(), Success)
    world.near("engine")
    assert len(world.embedder.asked) == asked == 20


def secret_meta() -> Meta:
    return Meta("id__abcdef", "Engine code", created_at_ms=1, updated_at_ms=1, sensitivity=Sensitivity.SECRET)


def test_when_time_is_up_the_rest_is_told_and_done_by_the_next_search(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_meanings, "_AT_ONCE", 8)
    wanted = world.put("Engine", "The engine overheats.")
    slow = IndexedMeanings(world.index, world.store, world.embedder, seconds=count(0, 0.9).__next__)
    assert "5 notes" in " ".join(slow.near(ENGINE, 5, (), ALL).unwrap().notices)
    later = slow.near(ENGINE, 5, (), ALL).unwrap()
    assert later.notices == ()
    assert wanted in later.cosines


def test_all_are_taken_in_however_long_it_takes_where_nobody_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_meanings, "_AT_ONCE", 8)
    slow = IndexedMeanings(world.index, world.store, world.embedder, seconds=count(0, 0.9).__next__)
    assert slow.fill() == Success(0)
    taken_in = len(world.embedder.asked)
    assert taken_in == 20
    assert world.near("engine").notices == ()
    assert len(world.embedder.asked) == taken_in


def test_a_query_without_words_and_a_store_without_notes_find_nothing(world: World) -> None:
    assert world.near("?!").cosines == {}
    assert World().near("engine").cosines == {}


def test_notes_that_are_all_the_same_are_no_nearer_than_others() -> None:
    world = World()
    numbers = {world.put("Engine") for _ in range(3)}
    found = world.near("engine")
    assert set(found.deviations) == numbers
    assert set(found.deviations.values()) == {0.0}


def test_without_its_model_the_search_goes_on_and_says_so(world: World) -> None:
    class Broken(DictEmbedder):
        def embed_words(self, words: Sequence[WeighedWord]) -> Result[bytes, Error]:
            return Failure(BROKEN)

    found = IndexedMeanings(world.index, world.store, Broken()).near(ENGINE, 5, (), ALL).unwrap()
    assert found.cosines == {}
    assert "weights" in found.notices[0]


def test_a_note_that_cannot_be_read_is_left_for_another_time(world: World) -> None:
    gone = world.put("Engine", "The engine overheats.")
    [note] = world.index.notes([gone]).unwrap().values()
    assert isinstance(world.store.delete(note.listed.meta.id), Success)
    found = world.near("engine overheats")
    assert gone not in found.cosines
    assert found.notices == ()


def test_a_rare_word_counts_more_than_one_that_is_everywhere(world: World) -> None:
    rare, common = world.put("Zebra", "Zebra."), world.put("Engine", "Engine.")
    alike = world.meanings.near((("zebra", 1.0), ("engine", 1.0)), 5, (), ALL).unwrap().deviations
    weighed = world.meanings.near((("zebra", 5.0), ("engine", 1.0)), 5, (), ALL).unwrap().deviations
    assert weighed[rare] - weighed[common] > alike[rare] - alike[common]


def test_where_vectors_cannot_be_kept_the_others_are_searched(world: World) -> None:
    wanted = world.put("Engine", "The engine overheats.")
    world.near("engine")
    world.put("Engine room", "The engine room is hot.")

    class Full(PlainIndex):
        def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
            return Failure(StoreIo(".cache", "write", "ENOSPC", "no space"))

        def vectors(self, model: str) -> Result[Vectors, Error]:
            return world.index.vectors(model)

        def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
            return world.index.without_vector(model)

    found = IndexedMeanings(Full(world.store), world.store, world.embedder).near(ENGINE, 5, (wanted,), ALL).unwrap()
    assert wanted in found.cosines
    assert found.notices == ("One note is not searched by meaning yet; the next searches go on with it.",)


_SIZE = 5
_rows = st.lists(st.binary(min_size=_SIZE, max_size=_SIZE), min_size=1, max_size=30)


@settings(max_examples=100)
@given(st.binary(min_size=_SIZE, max_size=_SIZE), _rows)
def test_cosines_are_those_of_one_pair_after_the_other_and_of_what_is_left_without_the_mean(
    one: bytes, rows: list[bytes]
) -> None:
    def unit(vector: bytes) -> list[float]:
        length = math.hypot(*components_of(vector))
        return [each / length if length else 0.0 for each in components_of(vector)]

    plain, (centred,) = indexed_meanings._cosines(rows, (one,))
    assert plain == pytest.approx([cosine(one, each) for each in rows], abs=1e-9)
    units = [unit(each) for each in rows]
    mean = [math.fsum(column) / len(units) for column in zip(*units, strict=True)]
    mine = [each - middle for each, middle in zip(unit(one), mean, strict=True)]
    for found, row in zip(centred, units, strict=True):
        theirs = [each - middle for each, middle in zip(row, mean, strict=True)]
        lengths = math.hypot(*mine) * math.hypot(*theirs)
        if lengths > 1e-3:
            exact = math.fsum(map(operator.mul, mine, theirs)) / lengths if any(row) else 0.0
            assert found == pytest.approx(exact, abs=1e-6)
