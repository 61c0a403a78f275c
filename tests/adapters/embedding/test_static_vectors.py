from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from agent_memory.adapters.embedding import NO_MODEL, open_model, open_static_vectors
from agent_memory.errors import StoreIo
from static_vectors import VOCABULARY, make_package, opened, row_of, small_embedder, tokenizer_of, weights_of


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory that is the only one packages are found in, for what is not imported yet."""
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_the_installed_model_is_found_and_no_code_of_its_package_runs(only_here: Path) -> None:
    make_package(only_here)
    assert opened(open_static_vectors(None)).dimensions == 8
    assert "wordllama" not in sys.modules


def test_the_model_below_home_is_found(only_here: Path) -> None:
    home = only_here / "home"
    assert open_static_vectors(str(home)) == NO_MODEL
    make_package(home / ".local/state/agent-memory/model")
    assert opened(open_static_vectors(str(home))).dimensions == 8


def test_without_a_model_a_sentence_says_how_to_get_it(only_here: Path) -> None:
    assert open_static_vectors(None) == NO_MODEL
    assert "`pip install --no-deps" in NO_MODEL


def test_a_namesake_that_is_a_module_is_no_model(only_here: Path) -> None:
    (only_here / "wordllama.py").write_text("")
    assert open_static_vectors(None) == NO_MODEL


def test_where_python_cannot_look_for_packages_there_are_words_alone(
    only_here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", refused)
    assert "cannot be told (Too many open files)" in str(open_static_vectors(None))


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
        (weights_of(ROWS).replace(b"embedding", b"something"), None),
        (weights_of(ROWS).replace(b"[0, ", b"[8, "), None),
        (None, b""),
        (None, b"{}"),
        (None, b'{"vocab": [], "merges": []}'),
        (None, b'{"vocab": {"a": 1, "merges": []}'),
        (None, tokenizer_of({})),
        (None, tokenizer_of({"a": -1})),
        (None, tokenizer_of({"a": "1"})),
        (None, tokenizer_of({"a": len(ROWS)})),
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


def test_another_model_has_another_name(tmp_path: Path) -> None:
    one = small_embedder(tmp_path / "one")
    weights, tokenizer = make_package(tmp_path / "other")
    assert opened(open_model(str(weights), str(tokenizer))).name == one.name
    weights.write_bytes(weights_of([tuple(reversed(row)) for row in ROWS]))
    assert opened(open_model(str(weights), str(tokenizer))).name != one.name


def test_frequent_pieces_count_less(tmp_path: Path) -> None:
    embedder = small_embedder(tmp_path)
    [vector] = embedder.embed(["zebra"]).unwrap()
    assert vector == embedder.embed(["zebra zebra"]).unwrap()[0]
    assert max(map(abs, memoryview(vector).cast("b"))) == 127
