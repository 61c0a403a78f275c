"""The words that a parser compares with, from its own source: an input that has them gets further."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import agent_memory

_PACKAGE = Path(agent_memory.__file__).parent
_MOST_CHARS = 60


@cache
def words_in(*patterns: str) -> tuple[str, ...]:
    """The short texts in the modules that match, in order; docstrings and what is only printed are too long to count."""
    found: dict[str, None] = {}
    for pattern in patterns:
        paths = sorted(_PACKAGE.glob(pattern))
        assert paths, f"no module is {pattern}"
        for path in paths:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and 1 < len(node.value) <= _MOST_CHARS
                ):
                    found[node.value] = None
    return tuple(found)
