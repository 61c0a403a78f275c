"""The index's connection, at the very end of its process."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from agent_memory.adapters.index import index_database
from agent_memory.adapters.index.index_database import ClosingConnection


@pytest.mark.parametrize(
    "made",
    [lambda: ClosingConnection.__new__(ClosingConnection), lambda: ClosingConnection(":memory:")],
    ids=["never opened", "never closed"],
)
def test_a_connection_that_is_left_over_says_nothing(
    made: Callable[[], ClosingConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When an interpreter ends, modules are emptied before the last objects go."""
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    connection = made()
    for name in list(vars(index_database)):
        monkeypatch.setattr(index_database, name, None)
    del connection
    monkeypatch.undo()
    assert said == []
