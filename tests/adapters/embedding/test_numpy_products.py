from __future__ import annotations

import random
import sys

import pytest

from agent_memory.adapters.embedding.numpy_products import numpy_products
from agent_memory.domain.similarity.lanes import lane_products

ROWS = random.Random(7).randbytes(3_000 * 16)
OTHERS = [[random.Random(seed).randint(-127, 127) for _ in range(16)] for seed in range(3)]


def test_products_are_those_without_numpy_over_many_blocks() -> None:
    pytest.importorskip("numpy")
    assert numpy_products(ROWS, OTHERS) == lane_products(ROWS, OTHERS)
    assert numpy_products(b"", OTHERS) == [[], [], []]


def test_where_it_is_not_installed_it_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert numpy_products(ROWS[:160], OTHERS) == lane_products(ROWS[:160], OTHERS)
