from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.embedding.wordllama_embedder import open_embedder_of, open_wordllama
from agent_memory.adapters.embedding.wordllama_files import NOT_INSTALLED, WordllamaFiles, find_wordllama_files
from agent_memory.errors import StoreIo
from static_vectors import VOCABULARY, make_package, row_of, tokenizer_of, weights_of


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory that is the only one packages are found in, for what is not imported yet."""
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_the_installed_package_is_found_and_its_code_not_run(only_here: Path) -> None:
    files = make_package(only_here)
    assert find_wordllama_files() == Success(files)
    assert open_wordllama().unwrap().dimensions == 8
    assert "wordllama" not in sys.modules


def test_without_the_package_a_sentence_says_how_to_install_it(only_here: Path) -> None:
    assert open_wordllama() == Failure(NOT_INSTALLED)


def test_a_package_without_its_weights_is_told_as_damaged(only_here: Path) -> None:
    files = make_package(only_here)
    os.unlink(files.weights)
    problem = open_wordllama().failure()
    assert files.weights in problem
    assert "--force-reinstall" in problem


def test_a_namesake_that_is_a_module_is_told(only_here: Path) -> None:
    (only_here / "wordllama.py").write_text("")
    assert open_wordllama() == Failure(NOT_INSTALLED)


def test_where_python_cannot_look_for_packages_there_are_words_alone(
    only_here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: str) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("importlib.util.find_spec", refused)
    assert "cannot be told (Too many open files)" in open_wordllama().failure()


ROWS = [row_of(number) for number in range(len(VOCABULARY))]


@pytest.mark.parametrize(
    ("weights", "tokenizer"),
    [
        (b"", None),
        (b"\x00" * 100, None),
        (b"\xff" * 100, None),
        (weights_of(ROWS)[:-1], None),
        (weights_of(ROWS)[:9], None),
        (weights_of(ROWS, kind="BF16"), None),
        (weights_of(ROWS[:-1]), None),
        (None, b""),
        (None, b"{}"),
        (None, tokenizer_of({})),
        (None, tokenizer_of({"a": -1})),
        (None, tokenizer_of({"a": len(ROWS)})),
    ],
)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, weights: bytes | None, tokenizer: bytes | None) -> None:
    files = make_package(tmp_path)
    assert isinstance(open_embedder_of(files), Success)
    if weights is not None:
        Path(files.weights).write_bytes(weights)
    if tokenizer is not None:
        Path(files.tokenizer).write_bytes(tokenizer)
    assert str(tmp_path) in open_embedder_of(files).failure()


def test_a_missing_file_or_a_directory_in_its_place_is_a_sentence(tmp_path: Path) -> None:
    files = make_package(tmp_path)
    for broken in (
        WordllamaFiles(str(tmp_path / "none"), files.tokenizer),
        WordllamaFiles(files.weights, str(tmp_path / "none")),
        WordllamaFiles(str(tmp_path), files.tokenizer),
        WordllamaFiles(files.weights, str(tmp_path)),
    ):
        assert "damaged" in open_embedder_of(broken).failure()


def test_a_file_that_shrinks_while_it_is_open_is_an_error(tmp_path: Path) -> None:
    files = make_package(tmp_path)
    embedder = open_embedder_of(files).unwrap()
    os.truncate(files.weights, 200)
    assert isinstance(embedder.embed(["zebra"]).failure(), StoreIo)
    assert isinstance(embedder.embed(["zebra " * 1_000, "lock " * 1_000]).failure(), StoreIo)


def test_many_texts_have_the_same_vectors_whether_some_rows_are_read_or_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    files, texts = make_package(tmp_path), [f"zebra {'lock ' * (at % 7)} abc{at}" for at in range(2_000)]
    some = open_embedder_of(files).unwrap().embed(texts).unwrap()
    monkeypatch.setattr("agent_memory.adapters.embedding.wordllama_embedder._FEW_ROWS", 0)
    assert open_embedder_of(files).unwrap().embed(texts).unwrap() == some


def test_another_model_has_another_name(tmp_path: Path) -> None:
    one = open_embedder_of(make_package(tmp_path / "one")).unwrap()
    files = make_package(tmp_path / "other")
    assert open_embedder_of(files).unwrap().name == one.name
    Path(files.weights).write_bytes(weights_of([tuple(reversed(row)) for row in ROWS]))
    assert open_embedder_of(files).unwrap().name != one.name


def test_frequent_pieces_count_less(tmp_path: Path) -> None:
    embedder = open_embedder_of(make_package(tmp_path)).unwrap()
    [vector] = embedder.embed(["zebra"]).unwrap()
    assert vector == embedder.embed(["zebra zebra"]).unwrap()[0]
    assert max(map(abs, memoryview(vector).cast("b"))) == 127
