from __future__ import annotations

import os
from pathlib import Path

import pytest
from returns.primitives.exceptions import UnwrapFailedError
from returns.result import Failure, Result, Success

from agent_memory.adapters.embedding.kept_pieces import NAME, pieces_kept_in
from agent_memory.adapters.embedding.wordllama_embedder import open_embedder_of
from static_vectors import VOCABULARY, make_package

PIECE, NUMBER = next(reversed(VOCABULARY.items()))


class Package:
    """A model's file, and how often it was read."""

    def __init__(self, directory: Path) -> None:
        self.path = Path(make_package(directory).tokenizer)
        self.found: Result[dict[str, int], str] = Success(VOCABULARY)
        self.reads = 0

    def number(self, root: Path | None, piece: str = PIECE, rows: int = 9) -> int | None:
        return pieces_kept_in(None if root is None else str(root), str(self.path), rows, self._read).unwrap().get(piece)

    def _read(self) -> Result[dict[str, int], str]:
        self.reads += 1
        return self.found


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


@pytest.fixture
def store(root: Path) -> Path:
    """A store that is there: none is made for a cache."""
    root.mkdir()
    return root


def test_the_second_time_nothing_is_read_but_the_cache(package: Package, store: Path) -> None:
    first = [package.number(store, piece) for piece in VOCABULARY]
    assert package.reads == 1
    assert first == list(VOCABULARY.values())


def test_of_another_model_it_is_read_again(package: Package, store: Path) -> None:
    package.number(store)
    package.number(store, rows=10)
    assert package.reads == 2
    package.found = Success({PIECE: 77})
    os.utime(package.path, ns=(1, 1))
    assert package.number(store, rows=10) == 77
    assert package.number(store, rows=10) == 77
    assert package.reads == 3


def test_what_is_damaged_or_cannot_be_kept_is_done_without_p6(package: Package, store: Path) -> None:
    package.number(store)
    kept = store / ".cache" / NAME
    kept.write_bytes(kept.read_bytes()[:-1])
    assert package.number(store) == NUMBER
    kept.unlink()
    kept.mkdir()
    assert package.number(store) == NUMBER
    assert package.reads == 3


def test_without_a_store_nothing_is_kept(package: Package, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    for root in (None, nowhere):
        assert package.number(root) == NUMBER
    assert not nowhere.exists()


def test_what_cannot_be_read_is_told_and_not_kept(package: Package, store: Path) -> None:
    package.found = Failure("it holds no vocabulary")
    with pytest.raises(UnwrapFailedError):
        package.number(store)
    assert not (store / ".cache" / NAME).exists()
    package.path.unlink()
    package.found = Success(VOCABULARY)
    assert package.number(store) == NUMBER


def test_texts_have_the_same_vectors_by_either_way(tmp_path: Path, store: Path) -> None:
    files, texts = make_package(tmp_path), ["zebra lock", "Müller ∆ abc", ""]
    anew = open_embedder_of(files).unwrap().embed(texts)
    open_embedder_of(files, str(store)).unwrap()
    assert (store / ".cache" / NAME).is_file()
    assert open_embedder_of(files, str(store)).unwrap().embed(texts) == anew
