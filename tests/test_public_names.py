"""What `import agent_memory` gives, and what it costs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import agent_memory
from agent_memory.app import late


def test_every_public_name_can_be_had() -> None:
    for name in agent_memory.homes_in(agent_memory.__file__):
        assert getattr(agent_memory, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = agent_memory.nonsense


def test_the_names_are_listed() -> None:
    assert {"MemoryService", "consolidate", "Store"} <= set(dir(agent_memory))


def test_what_the_composition_root_loads_late_lies_below_it() -> None:
    """As the import contracts ask of what it loads at once: they do not look at imports for types."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    below = {room for layer in layers[layers.index("app") + 1 :] for room in layer.split(" | ")}
    homes = agent_memory.homes_in(late.__file__)
    assert {f"{home}.{name}".split(".")[1] for name, home in homes.items() if name != "homes_in"} <= below
    assert not hasattr(late, "nonsense")
