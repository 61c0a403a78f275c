from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.similarity import cosine, packed

components = st.lists(st.floats(-1e6, 1e6, width=32), min_size=4, max_size=4)


def exact_cosine(one: list[float], other: list[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths


@settings(max_examples=60)
@given(components, components)
def test_the_cosine_of_packed_vectors_is_nearly_that_of_the_vectors(one: list[float], other: list[float]) -> None:
    if any(one) and any(other):
        assert cosine(packed(one), packed(other)) == pytest.approx(exact_cosine(one, other), abs=0.03)


def test_zeros_and_numbers_that_are_none_are_near_to_nothing() -> None:
    for empty in ([], [0.0, 0.0], [math.inf, 1.0], [math.nan, 1.0]):
        assert packed(empty) == bytes(len(empty))
    assert cosine(packed([0.0, 0.0]), packed([1.0, 0.0])) == 0.0
    assert cosine(packed([1.0, 0.0]), packed([1.0, 0.0])) == 1.0
