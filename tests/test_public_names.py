"""What `import agent_memory` gives, and what it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agent_memory

SOURCE = Path(agent_memory.__file__).read_text("utf-8")


def test_every_public_name_can_be_had() -> None:
    for name in agent_memory._homes():
        assert getattr(agent_memory, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    imports = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.ImportFrom) and node.module]
    seen = {alias.name: node.module for node in imports for alias in node.names if alias.name != "import_module"}
    assert seen == agent_memory._homes()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = agent_memory.nonsense


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import agent_memory; print(sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "['agent_memory']"


def test_the_names_are_listed() -> None:
    assert {"MemoryService", "consolidate", "Store"} <= set(dir(agent_memory))
