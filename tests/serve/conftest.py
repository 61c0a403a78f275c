from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_process import Memory
from served_page import Browser


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.unrecorded(home)


@pytest.fixture
def browser(memory: Memory) -> Iterator[Browser]:
    opened_one = Browser(memory.home)
    yield opened_one
    opened_one.close()
