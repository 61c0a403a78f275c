"""What the words of a query are worth for its meaning."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.searching.terms import weighed_words


def test_a_word_counts_by_the_rarest_of_its_terms() -> None:
    worth = {"zebra": 5.0, "lock": 1.0}
    assert weighed_words("the zebra_lock of locks", worth) == (("zebra_lock", 5.0), ("locks", 1.0))


def test_words_of_no_worth_count_where_there_are_no_others() -> None:
    assert weighed_words("what was it", {}) == (("what", 1.0), ("was", 1.0), ("it", 1.0))
    assert weighed_words("?!", {}) == ()


@given(st.text(max_size=200))
def test_any_text_is_a_query(query: str) -> None:
    assert all(weight > 0 for _, weight in weighed_words(query, {"a": 2.0}))
