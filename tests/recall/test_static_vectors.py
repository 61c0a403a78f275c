"""The embedder of static vectors, and the meanings that are kept in the index."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import astuple, evolve, field, frozen
from hypothesis import given, settings, strategies as st
from returns.result import Result, Success

from agent_memory.errors import Error, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import MemoryEntry, Meta, Sensitivity
from agent_memory.note.terms import weighed_words
from agent_memory.ports import Embedder
from agent_memory.recall.embedding import (
    NO_MODEL,
    IndexedMeanings,
    StaticVectors,
    WordPieces,
    open_model,
    open_static_vectors,
)
from agent_memory.recall.hits import Nearness
from agent_memory.recall.note_index import NoteIndex
from agent_memory.store.store_files import Store
from one_change import put, write
from static_vectors import VOCABULARY, make_package, opened, row_of, small_embedder, tokenizer_of, weights_of


@pytest.fixture
def embedder(tmp_path: Path) -> Embedder:
    return small_embedder(tmp_path)


def test_a_text_without_words_is_all_zeros(embedder: Embedder) -> None:
    zeros = bytes(embedder.dimensions)
    assert embedder.embed(["", " \n\t", "?! — …"]).unwrap() == (zeros, zeros, zeros)
    assert embedder.embed(["zebra"]).unwrap() != (zeros,)


# -- the files of a model ----------------------------------------------------------------------------------------------


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory that is the only one packages are found in, for what is not imported yet."""
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_the_installed_model_is_found_and_no_code_of_its_package_runs(only_here: Path) -> None:
    make_package(only_here)
    assert opened(open_static_vectors("/none")).dimensions == 8
    assert "wordllama" not in sys.modules


def test_the_model_below_home_is_found(only_here: Path) -> None:
    home = only_here / "home"
    assert open_static_vectors(str(home)) == NO_MODEL
    make_package(home / ".local/state/agent-memory/model")
    assert opened(open_static_vectors(str(home))).dimensions == 8


ROWS = [row_of(number) for number in range(len(VOCABULARY))]


@pytest.mark.parametrize(
    ("weights", "tokenizer"),
    [
        (b"", None),
        (weights_of(ROWS)[:-1], None),
        (weights_of(ROWS[:-1]), None),
        (None, b""),
        (None, b'{"vocab": {"a": 1, "merges": []}'),
        (None, tokenizer_of({"a": "1"})),
    ],
)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, weights: bytes | None, tokenizer: bytes | None) -> None:
    table, pieces = make_package(tmp_path)
    assert opened(open_model(str(table), str(pieces))).dimensions == 8
    if weights is not None:
        table.write_bytes(weights)
    if tokenizer is not None:
        pieces.write_bytes(tokenizer)
    assert str(tmp_path) in str(open_model(str(table), str(pieces)))


def test_a_missing_file_or_a_directory_in_its_place_is_a_sentence(tmp_path: Path) -> None:
    weights, tokenizer = map(str, make_package(tmp_path))
    for other in (str(tmp_path / "none"), str(tmp_path)):
        assert "damaged" in str(open_model(other, tokenizer))
        assert "damaged" in str(open_model(weights, other))


def test_a_file_that_shrinks_while_it_is_open_is_an_error(tmp_path: Path) -> None:
    embedder = small_embedder(tmp_path)
    os.truncate(tmp_path / "wordllama/weights/l2_supercat_256.safetensors", 200)
    assert isinstance(embedder.embed(["zebra"]).failure(), StoreIo)
    assert isinstance(embedder.embed_words((("zebra", 1.0),)).failure(), StoreIo)
    assert isinstance(embedder.embed(["zebra " * 1_000, "lock " * 1_000] * 10).failure(), StoreIo)


# -- meanings in the index ---------------------------------------------------------------------------------------------


_times = count(1)


@frozen
class CountingEmbedder(StaticVectors):
    """Remembers which texts it was asked for."""

    asked: list[str] = field(factory=list[str])

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        self.asked.extend(texts)
        return super().embed(texts)


ENGINE = (("engine", 1.0),)


class World:
    def __init__(self, root: Path) -> None:
        self.store = Store(root, Locks(root))
        self.index = NoteIndex(self.store.files)
        self.embedder = CountingEmbedder(*astuple(small_embedder(root.parent / "model"), recurse=False))
        self.meanings = IndexedMeanings(self.index, self.store, self.embedder)

    def put(self, title: str, body: str = "It is so.", **values: Any) -> int:
        id = put(self.store, title, body, next(_times), **values)
        assert isinstance(self.index.refresh(), Success)
        return self.index.numbers_of([id]).unwrap()[id]

    def near(self, query: str) -> Nearness:
        return self.meanings.nearness(weighed_words(query, {})).unwrap()


@pytest.fixture
def world(root: Path) -> World:
    world = World(root)
    for number in range(20):
        world.put(f"Something else {number}", f"Unlike matter{number} of kind{number * 7}.")
    return world


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


def test_without_its_model_the_search_goes_on_and_says_so(world: World) -> None:
    os.truncate(world.embedder.path, 200)
    found = world.meanings.nearness(ENGINE).unwrap()
    assert found.cosines == {}
    assert "weights" in found.notices[0]


# -- word pieces --------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.text("abcd é", max_size=30))
def test_pieces_are_those_of_the_tokenizers_library(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    by_number = sorted((number, piece) for piece, number in VOCABULARY.items() if number >= 259 and len(piece) > 1)
    merges = [
        (piece[:cut], piece[cut:])
        for _, piece in by_number
        for cut in range(1, len(piece))
        if piece[:cut] in VOCABULARY and piece[cut:] in VOCABULARY
    ]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(VOCABULARY, merges, byte_fallback=True, unk_token="<unk>"))
    theirs.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    plain = " ".join(text.split())
    assert WordPieces(VOCABULARY).numbers(plain) == (theirs.encode(plain).ids if plain else [])
