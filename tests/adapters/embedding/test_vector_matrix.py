from __future__ import annotations

import random
import sys

import pytest

from agent_memory.adapters.embedding.vector_matrix import vector_matrix
from agent_memory.domain.similarity.vectors import cosine, packed

pytest.importorskip("numpy")

EAST, NORTH, NORTH_EAST, WEST, NOWHERE = (
    packed(each) for each in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, 0.0])
)


def test_the_nearest_come_first_and_what_is_not_near_is_left_out() -> None:
    matrix = vector_matrix([WEST, NORTH, NORTH_EAST, EAST, NOWHERE, EAST], 2)
    assert matrix is not None
    assert len(matrix) == 6
    found = matrix.nearest(EAST, 10)
    assert [each.row for each in found] == [3, 5, 2]
    assert [each.cosine for each in found] == pytest.approx([1.0, 1.0, 0.7071], abs=1e-3)


def test_at_most_so_many_are_found_the_first_of_equals() -> None:
    matrix = vector_matrix([NORTH_EAST, EAST, EAST, EAST], 2)
    assert matrix is not None
    assert [each.row for each in matrix.nearest(EAST, 2)] == [1, 2]
    assert matrix.nearest(EAST, 0) == ()


def test_only_allowed_rows_are_found() -> None:
    matrix = vector_matrix([EAST, NORTH_EAST, EAST, WEST], 2)
    assert matrix is not None
    assert [each.row for each in matrix.nearest(EAST, 3, among=[3, 2, 1, 1])] == [2, 1]
    assert matrix.nearest(EAST, 3, among=[]) == ()


def test_a_query_without_meaning_or_of_another_model_finds_nothing() -> None:
    matrix = vector_matrix([EAST, NORTH], 2)
    assert matrix is not None
    for query in (NOWHERE, b"", packed([1.0, 0.0, 0.0])):
        assert matrix.nearest(query, 5) == ()


def test_bytes_that_are_no_vectors_make_no_matrix() -> None:
    assert vector_matrix(b"\x01\x02\x03", 2) is None
    assert vector_matrix(b"", 0) is None
    empty = vector_matrix(b"", 2)
    assert empty is not None
    assert empty.nearest(EAST, 5) == ()


def test_cosines_are_those_of_the_pure_function_over_many_blocks() -> None:
    chance = random.Random(7)
    vectors = [chance.randbytes(16) for _ in range(3_000)]
    matrix = vector_matrix(b"".join(vectors), 16)
    assert matrix is not None
    found = matrix.cosines(vectors[5]).tolist()
    expected = [cosine(vectors[5], each) for each in vectors]
    assert found == pytest.approx(expected, abs=1e-5)
    best = sorted(range(len(vectors)), key=lambda row: (-expected[row], row))[:20]
    assert {each.row for each in matrix.nearest(vectors[5], 20)} == set(best)


def test_without_numpy_there_is_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    assert vector_matrix([EAST], 2) is not None
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert vector_matrix([EAST], 2) is None
