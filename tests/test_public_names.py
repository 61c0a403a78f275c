"""What `import agent_memory` gives, and what it costs."""

from __future__ import annotations

import pytest

import agent_memory


def test_every_public_name_can_be_had() -> None:
    for name in agent_memory.homes_in(agent_memory.__file__):
        assert getattr(agent_memory, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = agent_memory.nonsense


def test_the_names_are_listed() -> None:
    assert {"MemoryService", "consolidate", "Store"} <= set(dir(agent_memory))
