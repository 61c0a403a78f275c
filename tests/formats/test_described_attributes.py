"""What classes of values say of their attributes."""

from __future__ import annotations

import subprocess
import sys

import attrs
import pytest

from agent_memory.config import Config
from agent_memory.formats.described_attributes import attributes_of, camel_case, options_of
from agent_memory.values import described_fields, field, frozen, is_value_class


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


def test_a_class_of_somebody_else_is_refused() -> None:
    assert is_value_class(Berth)
    assert not is_value_class(str)
    with pytest.raises(TypeError, match="str is not a class of values"):
        described_fields(str)


def test_keys_are_in_camel_case() -> None:
    assert camel_case("max_calls_per_day") == "maxCallsPerDay"
    assert camel_case("root") == "root"


def test_the_options_of_a_type() -> None:
    assert options_of(float | None) == (float, type(None))
    assert options_of(tuple[str, ...]) == (tuple[str, ...],)


def test_a_config_is_read_without_attrs_and_cattrs() -> None:
    look = (
        "import sys; from agent_memory.adapters.surroundings.config_documents import parse_config; "
        """assert parse_config(b'{"llm": {"presets": {"a": {"argv": ["b"]}}}}', 'c').unwrap(); """
        "print(sorted({'attr', 'attrs', 'cattrs'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.strip() == "[]"
