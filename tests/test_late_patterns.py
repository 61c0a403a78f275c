"""Patterns that are compiled at their first use."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest

import agent_memory
from agent_memory.late_patterns import late_pattern


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    late = late_pattern(r"(\w+) berth", re.IGNORECASE)
    now = re.compile(r"(\w+) berth", re.IGNORECASE)
    text = "North BERTH, south berth"
    assert late.findall(text) == now.findall(text) == ["North", "south"]
    assert late.sub(r"\1", text) == now.sub(r"\1", text)
    assert (late.pattern, late.flags, late.groups) == (now.pattern, now.flags, now.groups)


def test_a_mistake_shows_at_the_first_use() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.search("text")


def test_every_late_pattern_of_the_package_can_be_compiled() -> None:
    names = [each.name for each in pkgutil.walk_packages(agent_memory.__path__, "agent_memory.")]
    modules = [import_module(name) for name in names if "embedding" not in name and ".mcp" not in name]
    late = type(late_pattern(""))
    patterns = [each for module in modules for each in vars(module).values() if isinstance(each, late)]
    assert len(patterns) > 40
    assert all(each.pattern for each in patterns)
