"""These tests hold through all changes of the inside: they know commands and the public API alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_inside_is_imported(path: Path) -> None:
    imported = set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
        elif isinstance(node, ast.Import):
            imported.update(each.name for each in node.names)
    assert not [name for name in imported if name.startswith("agent_memory.")]
