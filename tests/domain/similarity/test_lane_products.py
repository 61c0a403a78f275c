from __future__ import annotations

from operator import mul

from hypothesis import given, settings, strategies as st

from agent_memory.domain.similarity.vector_rows import MOST_FACTORS, lane_products
from agent_memory.domain.similarity.vectors import components_of


@st.composite
def multiplied(draw: st.DrawFn) -> tuple[list[bytes], list[list[int]]]:
    size = draw(st.integers(1, 9))
    rows = draw(st.lists(st.binary(min_size=size, max_size=size), max_size=12))
    most = MOST_FACTORS // size
    other = st.lists(st.integers(-most, most), min_size=size, max_size=size)
    return rows, draw(st.lists(other, max_size=4))


@settings(max_examples=200)
@given(multiplied())
def test_every_product_is_exact(given: tuple[list[bytes], list[list[int]]]) -> None:
    rows, others = given
    expected = [[sum(map(mul, components_of(row), other)) for row in rows] for other in others]
    assert lane_products(b"".join(rows), others) == expected


def test_the_largest_factors_run_over_into_no_other_lane() -> None:
    least, most = bytes([0x80]), bytes([0x7F])
    rows = [least, most, least, most]
    factors = [[MOST_FACTORS], [-MOST_FACTORS]]
    up = [-128 * MOST_FACTORS, 127 * MOST_FACTORS] * 2
    assert lane_products(b"".join(rows), factors) == [up, [-each for each in up]]


def test_of_nothing_there_are_no_products() -> None:
    assert lane_products(b"", [[1, 2]]) == [[]]
    assert lane_products(b"\x01\x02", []) == []
    assert lane_products(b"", []) == []
