from __future__ import annotations

import random
import sys

import pytest

from agent_memory.adapters.embedding import quicker_products
from agent_memory.adapters.embedding.quicker_products import QuickerProducts, numpy_products
from agent_memory.domain.similarity.lanes import lane_products

ROWS = random.Random(7).randbytes(3_000 * 16)
OTHERS = [[random.Random(seed).randint(-127, 127) for _ in range(16)] for seed in range(3)]


def test_products_are_those_without_numpy_over_many_blocks() -> None:
    pytest.importorskip("numpy")
    assert numpy_products(ROWS, OTHERS) == lane_products(ROWS, OTHERS)
    assert numpy_products(b"", OTHERS) == [[], [], []]


def test_numpy_is_loaded_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(rows: bytes, _: object) -> None:
        asked.append(len(rows))

    monkeypatch.setattr(quicker_products, "_MANY_ROWS", 9_000)
    monkeypatch.setattr(quicker_products, "numpy_products", counted)
    products = QuickerProducts()
    for _ in range(5):
        assert products(ROWS, OTHERS) == lane_products(ROWS, OTHERS)
    assert asked == [len(ROWS)] * 2


def test_where_it_is_not_installed_it_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr(quicker_products, "_MANY_ROWS", 0)
    assert numpy_products(ROWS, OTHERS) is None
    assert QuickerProducts()(ROWS, OTHERS) == lane_products(ROWS, OTHERS)
