"""The vocabulary of tags in memory."""

from __future__ import annotations

from attrs import define, field
from returns.result import Result

from agent_memory.domain.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import Error
from agent_memory.formats.bookkeeping_json import TAG_VOCABULARY
from agent_memory.results import as_result


@define
class DictTagVocabulary:
    """`KeptVocabulary` in a variable. What is kept goes through its text form, as on disk."""

    text: str = field(factory=lambda: TAG_VOCABULARY.render(TagVocabulary()))

    def get(self) -> Result[TagVocabulary, Error]:
        return as_result(TAG_VOCABULARY.parse)(self.text.encode(), VOCABULARY_FILE)

    def put(self, vocabulary: TagVocabulary) -> Result[str, Error]:
        self.text = TAG_VOCABULARY.render(vocabulary)
        return self.get().map(lambda _: VOCABULARY_FILE)
