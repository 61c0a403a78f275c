from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.similarity.vector_rows import VectorRows, cosines_with, rows_of
from agent_memory.domain.similarity.vectors import components_of, cosine, packed

SIZE = 5
vectors = st.lists(st.binary(min_size=SIZE, max_size=SIZE), min_size=1, max_size=30)
wanted = st.binary(min_size=SIZE, max_size=SIZE)


def unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(each * each for each in vector))
    return [each / length if length else 0.0 for each in vector]


def centred(one: bytes, every: Sequence[bytes]) -> list[float]:
    """By its definition, in floats, with no short cut."""
    units = [unit(components_of(each)) for each in every]
    mean = [math.fsum(column) / len(units) for column in zip(*units, strict=True)]
    mine = [each - middle for each, middle in zip(unit(components_of(one)), mean, strict=True)]
    found = list[float]()
    for row in units:
        theirs = [each - middle for each, middle in zip(row, mean, strict=True)]
        lengths = math.dist(mine, [0] * SIZE) * math.dist(theirs, [0] * SIZE)
        product = math.fsum(a * b for a, b in zip(mine, theirs, strict=True))
        found.append(product / lengths if lengths > 1e-2 and any(row) else math.nan)
    return found


@settings(max_examples=150)
@given(wanted, vectors)
def test_cosines_are_those_of_one_pair_after_the_other(one: bytes, every: list[bytes]) -> None:
    (found,) = cosines_with(rows_of(every), [one])
    assert found.plain == pytest.approx([cosine(one, each) for each in every], abs=1e-9)


@settings(max_examples=150)
@given(wanted, vectors)
def test_centred_ones_are_those_of_what_is_left_without_the_mean(one: bytes, every: list[bytes]) -> None:
    (found,) = cosines_with(rows_of(every), [one])
    for each, exact in zip(found.centred, centred(one, every) if any(one) else (), strict=False):
        if not math.isnan(exact):
            assert each == pytest.approx(exact, abs=2e-3)  # the mean is rounded, and little of a short vector is left


def test_several_are_compared_at_once_each_as_if_it_were_alone() -> None:
    east, north, west = packed([1.0, 0.0]), packed([0.0, 1.0]), packed([-1.0, 0.0])
    rows = rows_of([east, north, west, bytes(2)])
    both = cosines_with(rows, [east, north])
    assert both == (*cosines_with(rows, [east]), *cosines_with(rows, [north]))
    assert both[0].plain == [1.0, 0.0, -1.0, 0.0]
    assert both[0].centred[3] == 0.0


def test_rows_that_are_all_the_same_differ_in_nothing() -> None:
    same = packed([0.3, 0.4, 0.1])
    (found,) = cosines_with(rows_of([same] * 4), [packed([1.0, 0.0, 0.0])])
    assert found.centred == pytest.approx([0.0] * 4, abs=1e-3)


def test_vectors_of_very_many_components_are_compared_too() -> None:
    chance = random.Random(5)
    every = [chance.randbytes(4_096) for _ in range(6)]
    (found,) = cosines_with(rows_of(every), [every[2]])
    assert found.plain == pytest.approx([cosine(every[2], each) for each in every])
    assert found.centred[2] == pytest.approx(1.0, abs=1e-3)


def test_a_vector_of_another_model_is_near_to_nothing() -> None:
    rows = rows_of([packed([1.0, 0.5]), packed([0.2, 1.0])])
    (found,) = cosines_with(rows, [packed([1.0, 1.0, 1.0])])
    assert found.plain == found.centred == [0.0, 0.0]


def test_without_rows_there_is_nothing_to_be_near_to() -> None:
    (found,) = cosines_with(VectorRows(), [packed([1.0])])
    assert (found.plain, found.centred) == ([], [])
    assert len(rows_of([])) == 0
