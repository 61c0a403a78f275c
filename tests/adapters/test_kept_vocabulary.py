"""Where the vocabulary of tags is kept: one contract, on disk and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.adapters.records.bookkeeping_files import TagVocabularyFile
from agent_memory.domain.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import StateCorrupt

KNOWN = TagVocabulary(frozenset(("topic__a", "bare")), {"topic__b": "topic__a"})


class TestTagVocabularyFile:
    @pytest.fixture
    def kept(self, root: Path) -> TagVocabularyFile:
        return TagVocabularyFile(root)

    def test_there_is_none_at_first(self, kept: TagVocabularyFile) -> None:
        assert kept.get() == Success(TagVocabulary())

    def test_what_was_put_is_there_and_replaced_by_the_next(self, kept: TagVocabularyFile) -> None:
        assert kept.put(KNOWN) == Success(VOCABULARY_FILE)
        assert kept.get() == Success(KNOWN)
        later = KNOWN.with_accepted(["topic__c"])
        kept.put(later).unwrap()
        assert kept.get() == Success(later)

    def test_a_damaged_one_is_an_error_p6(self, root: Path) -> None:
        (root / "state").mkdir(parents=True)
        (root / VOCABULARY_FILE).write_text("{")
        assert isinstance(TagVocabularyFile(root).get().failure(), StateCorrupt)
