"""What classes of values say of their attributes."""

from __future__ import annotations

import attrs
from attrs import field, frozen

from agent_memory.config import Config
from agent_memory.formats.strict_values import attributes_of, camel_case, options_of


@frozen
class Berth:
    name: str
    draught_metres: float | None = None
    lines: list[str] = field(factory=list, metadata={"meaning": "Ropes.", "key": "ropes"})


def test_each_attribute_is_told_by_its_json_key() -> None:
    attributes = attributes_of(Berth)
    assert list(attributes) == ["name", "draughtMetres", "ropes"]
    assert [each.type for each in attributes.values()] == [str, float | None, list[str]]
    assert [each.is_required for each in attributes.values()] == [True, False, False]
    assert [each.default for each in attributes.values()] == [None, None, []]
    assert attributes["ropes"].facts["meaning"] == "Ropes."


def test_it_says_of_the_configuration_what_attrs_says() -> None:
    of_attrs = attrs.fields(attrs.resolve_types(Config))
    assert {each.name: each.type for each in attributes_of(Config).values()} == {
        each.name: each.type for each in of_attrs
    }


def test_keys_are_in_camel_case() -> None:
    assert camel_case("max_calls_per_day") == "maxCallsPerDay"
    assert camel_case("root") == "root"


def test_the_options_of_a_type() -> None:
    assert options_of(float | None) == (float, type(None))
    assert options_of(tuple[str, ...]) == (tuple[str, ...],)
