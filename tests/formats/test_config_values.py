"""From JSON to values: nothing guessed, every problem named."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from attrs import field, frozen
from hypothesis import given, strategies as st

from agent_memory.config import Config
from agent_memory.formats.config_values import attributes_of, document_of, value_of
from agent_memory.formats.strict_json import InvalidValue


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
    assert document_of(value) == document


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "must be an object, not a list"),
        ({"onOrOff": "no"}, 'onOrOff: must be true or false, not "no"'),
        ({"onOrOff": 0}, "onOrOff: must be true or false, not the number 0"),
        ({"count": True}, "count: must be a whole number, not true"),
        ({"count": 2.0}, "count: must be a whole number, not the number 2"),
        ({"count": "12"}, 'count: must be a whole number, not "12"'),
        ({"count": 0}, "count: must be at least 1"),
        ({"count": 1_001}, "count: must be at most 1,000"),
        ({"ratio": False}, "ratio: must be a number, not false"),
        ({"ratio": 0}, "ratio: must be more than 0"),
        ({"ratio": float("inf")}, "ratio: must be a finite number"),
        ({"title": 3}, "title: must be a string, not the number 3"),
        ({"title": []}, "title: must be a string, not a list"),
        ({"inner": None}, "inner: must be an object, not null"),
        ({"inner": {}}, "inner.names: is missing"),
        ({"inner": {"names": []}}, "inner.names: must not be empty"),
        ({"inner": {"names": "ab"}}, 'inner.names: must be a list, not "ab"'),
        ({"inner": {"names": ["a", 1]}}, "inner.names[1]: must be a string, not the number 1"),
        ({"inner": {"names": ["a"], "colour": "pink"}}, 'inner.colour: must be "red" or "blue", not "pink"'),
        ({"inner": {"names": ["a"], "colour": []}}, 'inner.colour: must be "red" or "blue", not a list'),
        ({"byName": {"a": 1}}, "byName.a: must be an object, not the number 1"),
        ({"byName": []}, "byName: must be an object, not a list"),
        ({"conut": 1}, "conut: unknown, did you mean count?"),
        ({"on_or_off": True}, "on_or_off: unknown, did you mean onOrOff?"),
        ({"oddName": 1}, "oddName: unknown, did you mean oddNAME?"),
        ({"x" * 100: 1}, "x" * 60 + "…: unknown"),
        ({"\x1b[2J": 1}, "?[2J: unknown"),
        ({"count": 10**400}, "count: must be at most 1,000"),
        ({"title": 10**400}, "title: must be a string, not a huge number"),
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
    assert problems or value_of(document_of(config), Config) == config


def test_a_config_written_out_is_the_same_config() -> None:
    assert value_of(document_of(Config()), Config) == Config()


def test_each_attribute_is_told_by_its_json_key() -> None:
    attributes = attributes_of(Inner)
    assert list(attributes) == ["names", "colour"]
    assert [each.is_required for each in attributes.values()] == [True, False]
    assert [each.default for each in attributes.values()] == [None, "red"]
