"""The estimate of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.injecting.assembling import token_units, tokens_in

# What the tokenizer of Llama 2, a small vocabulary that cuts more finely than those of today's models, came to.
COUNTED = [
    ("The worker retried the request without a key, and charged the card twice.", 16),
    ("getUserPreferencesFromDatabaseConnectionPool", 7),
    ("数据库迁移需要先锁定表,然后再执行。", 25),
    ("Миграция базы данных требует блокировки таблицы.", 19),
    ('{"a": 1, "b": [1,2,3], "c": {"d": "e"}}', 26),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_it_is_not_below_what_a_tokenizer_counts(text: str, counted: int) -> None:
    assert counted <= tokens_in(text) <= 2.5 * counted


@given(st.text(), st.text())
def test_the_estimate_of_a_whole_is_that_of_its_parts(one: str, other: str) -> None:
    assert token_units(one + other) == token_units(one) + token_units(other)


@given(st.text(min_size=1))
def test_no_text_costs_nothing(text: str) -> None:
    assert tokens_in(text) > 0


def test_wide_characters_count_more_than_one_token_each() -> None:
    assert tokens_in("锁" * 100) > 100
    assert tokens_in("🚀" * 100) >= 400
