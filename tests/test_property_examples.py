"""How many examples a property gets, and what of it is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType, SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings, strategies as st

from property_examples import MEASURED_EXAMPLES, first_measured, pytest_runtest_call, quick_number

TRIED: list[int] = []


def tracer(frame: FrameType, event: str, argument: object) -> Any:
    return None


@pytest.fixture
def traced() -> Iterator[None]:
    measuring = sys.gettrace()
    sys.settrace(tracer)
    yield
    sys.settrace(measuring)


@pytest.mark.parametrize(("full", "quick"), [(1, 1), (10, 10), (15, 10), (25, 10), (60, 15), (100, 25), (500, 125)])
def test_a_quarter_of_the_examples_is_tried_but_no_fewer_than_ten(full: int, quick: int) -> None:
    assert quick_number(full) == quick


@pytest.mark.usefixtures("traced")
def test_the_first_examples_are_measured_and_all_are_tried() -> None:
    measured = []
    tried = first_measured(lambda number, named: measured.append((number, named, sys.gettrace() is tracer)))
    for number in range(MEASURED_EXAMPLES + 3):
        tried(number, named="n")
    assert measured == [(number, "n", number < MEASURED_EXAMPLES) for number in range(MEASURED_EXAMPLES + 3)]


@given(st.integers())
@settings(max_examples=50, database=None)
def test_a_property_of_this_run(number: int) -> None:
    TRIED.append(number)


def test_a_property_is_tried_as_often_as_is_asked_for(request: pytest.FixtureRequest) -> None:
    TRIED.clear()
    test_a_property_of_this_run()
    is_thorough = request.config.getoption("--hypothesis-profile") == "thorough"
    assert len(TRIED) == (50 if is_thorough else 12)


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("is_large", [True, False])
def test_a_large_test_is_not_measured_and_what_follows_it_is(is_large: bool) -> None:
    item = SimpleNamespace(get_closest_marker=lambda name: is_large and name == "large", obj=None)
    call = pytest_runtest_call(cast(pytest.Item, item))
    next(call)
    assert sys.gettrace() is (None if is_large else tracer)
    with pytest.raises(StopIteration) as ended:
        call.send("result")
    assert ended.value.value == "result"
    assert sys.gettrace() is tracer
