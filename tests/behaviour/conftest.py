"""A home for each test, and `memory` in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_process import Memory


@pytest.fixture
def memory(home: Path) -> Memory:
    """Without git."""
    return Memory.unrecorded(home)


@pytest.fixture
def recorded(home: Path) -> Memory:
    """With git, as it is by default."""
    return Memory(home)
