"""What a segment has is told as it was written, and what it has not, only where that is sure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, strategies as st

from agent_memory.adapters.index import vocabulary_writing
from agent_memory.adapters.index.index_database import IndexDatabase, in_memory
from agent_memory.adapters.index.seals import RuinedIndexError
from agent_memory.adapters.index.vocabulary import Vocabularies
from agent_memory.adapters.index.vocabulary_writing import VocabularyDraft

words = st.text("abcdz\u00e9\u6771", min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_writing, "_BLOCK_TERMS", 3)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    database = in_memory(None)
    yield database.connection
    database.close()


def write(connection: sqlite3.Connection, segment: int, terms: Mapping[str, int]) -> None:
    draft = VocabularyDraft(connection, segment)
    for term in sorted(terms):
        draft.add(term, terms[term])
    draft.finish()
    assert draft.count == len(terms)


@given(terms=st.dictionaries(words, st.integers(1, 1 << 31), max_size=20), low=words, high=words, asked=words)
def test_terms_are_told_as_they_were_written(terms: dict[str, int], low: str, high: str, asked: str) -> None:
    database: IndexDatabase = in_memory(None)
    write(database.connection, 1, {"abc": 1})
    write(database.connection, 2, terms)
    vocabularies = Vocabularies(database.connection)
    low, high = sorted((low, high))
    found = {term: df for some, dfs in vocabularies.between(2, low, high) for term, df in zip(some, dfs, strict=True)}
    assert list(found.items()) == [(term, terms[term]) for term in sorted(terms) if low <= term < high]
    assert vocabularies.has(2, asked) is (asked in terms)
    assert all(vocabularies.has(2, term) for term in terms)
    database.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vocabulary WHERE first = 'd'",
        "DELETE FROM vocabulary WHERE first = ''",
        "UPDATE vocabulary SET terms = replace(terms, 'e', 'x')",
        "UPDATE vocabulary SET first = 'c' WHERE first = 'd'",
        "UPDATE vocabulary SET after = NULL",
        "UPDATE vocabulary SET dfs = zeroblob(12)",
        "UPDATE vocabulary SET segment = 2",
    ],
)
def test_a_block_that_is_lost_or_changed_is_no_answer(connection: sqlite3.Connection, damage: str) -> None:
    write(connection, 1, dict.fromkeys("abcdefgh", 2))
    assert Vocabularies(connection).has(1, "e")
    connection.execute(damage)
    with pytest.raises(RuinedIndexError):
        any(Vocabularies(connection).has(segment, term) for segment in (1, 2) for term in ("a!", "e!", "h!"))
