"""From JSON to values: nothing guessed, every problem named."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from attrs import field, frozen
from hypothesis import given, strategies as st

from agent_memory.config import Config
from agent_memory.formats.json_codec import InvalidValue, attributes_of, value_of, written


@frozen
class Inner:
    names: tuple[str, ...] = field(metadata={"least_items": 1})
    colour: Literal["red", "blue"] = "red"


@frozen
class Outer:
    on_or_off: bool = True
    count: int = field(default=1, metadata={"least": 1, "most": 1_000})
    ratio: float = field(default=0.5, metadata={"above": 0})
    title: str | None = None
    inner: Inner = field(factory=lambda: Inner(("a",)))
    by_name: dict[str, Inner | str] = field(factory=dict)
    odd_name: int = field(default=0, metadata={"key": "oddNAME"})


def problems(document: object) -> tuple[str, ...]:
    with pytest.raises(InvalidValue) as refused:
        value_of(document, Outer)
    return refused.value.problems


def test_an_empty_object_is_all_defaults() -> None:
    assert value_of({}, Outer) == Outer()


def test_every_key_is_read_and_written_back() -> None:
    document = {
        "onOrOff": False,
        "count": 1_000,
        "ratio": 2,
        "title": None,
        "inner": {"names": ["x", "y"], "colour": "blue"},
        "byName": {"a": "text", "b": {"names": ["z"], "colour": "red"}},
        "oddNAME": 7,
    }
    value = value_of(document, Outer)
    assert value.inner == Inner(("x", "y"), "blue")
    assert value.by_name == {"a": "text", "b": Inner(("z",))}
    assert written(value) == document


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "the document is a list, expected an object"),
        ({"onOrOff": "no"}, "onOrOff is 'no', expected true or false"),
        ({"onOrOff": 0}, "onOrOff is 0, expected true or false"),
        ({"count": True}, "count is true, expected a whole number"),
        ({"count": 2.0}, "count is 2.0, expected a whole number"),
        ({"count": "12"}, "count is '12', expected a whole number"),
        ({"count": 0}, "count is 0, expected at least 1"),
        ({"count": 1_001}, "count is 1001, expected at most 1,000"),
        ({"ratio": False}, "ratio is false, expected a number"),
        ({"ratio": 0}, "ratio is 0, expected more than 0"),
        ({"ratio": float("inf")}, "ratio is inf, expected a number"),
        ({"title": 3}, "title is 3, expected text"),
        ({"title": []}, "title is a list, expected text"),
        ({"inner": None}, "inner is null, expected an object"),
        ({"inner": {}}, "inner.names is missing"),
        ({"inner": {"names": []}}, "inner.names must not be empty"),
        ({"inner": {"names": "ab"}}, "inner.names is 'ab', expected a list"),
        ({"inner": {"names": ["a", 1]}}, "inner.names[1] is 1, expected text"),
        ({"inner": {"names": ["a"], "colour": "pink"}}, "inner.colour is 'pink', expected one of red, blue"),
        ({"inner": {"names": ["a"], "colour": []}}, "inner.colour is a list, expected one of red, blue"),
        ({"byName": {"a": 1}}, "byName.a is 1, expected an object"),
        ({"byName": []}, "byName is a list, expected an object"),
        ({"conut": 1}, "conut is unknown, did you mean count?"),
        ({"on_or_off": True}, "on_or_off is unknown, did you mean onOrOff?"),
        ({"oddName": 1}, "oddName is unknown, did you mean oddNAME?"),
        ({"x" * 100: 1}, f"'{'x' * 56}… is unknown, expected onOrOff, count, ratio, title, inner, byName, oddNAME"),
        ({"\x1b[2J": 1}, "'\\x1b[2J' is unknown, expected onOrOff, count, ratio, title, inner, byName, oddNAME"),
        ({"count": 10**20}, "count is 100000000000000000000, expected at most 1,000"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(document: Any, problem: str) -> None:
    assert problems(document) == (problem,)


def test_all_problems_are_listed_at_once() -> None:
    assert len(problems({"count": "1", "inner": {"names": [1, 2]}, "zzz": 1})) == 4


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
config_keys = st.sampled_from(["command", "presets", "passEnv", "timeoutSeconds", "allowTools", "model", "argv", "env"])


@given(
    st.dictionaries(
        st.sampled_from(["llm", "storage", "inject"]), st.dictionaries(config_keys, json_values) | json_values
    )
)
def test_any_document_is_a_config_or_has_problems_and_what_is_read_survives(document: dict[str, Any]) -> None:
    problems: tuple[str, ...] = ()
    try:
        config = value_of(document, Config)
    except InvalidValue as refused:
        problems = refused.problems
    assert all(problem.isprintable() for problem in problems)
    assert problems or value_of(written(config), Config) == config


def test_a_config_written_out_is_the_same_config() -> None:
    assert value_of(written(Config()), Config) == Config()


def test_each_attribute_is_told_by_its_json_key() -> None:
    attributes = attributes_of(Inner)
    assert list(attributes) == ["names", "colour"]
    assert [each.is_required for each in attributes.values()] == [True, False]
    assert [each.default for each in attributes.values()] == [None, "red"]
