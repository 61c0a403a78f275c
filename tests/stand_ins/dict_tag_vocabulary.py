"""The vocabulary of tags in memory."""

from __future__ import annotations

from attrs import define, field
from returns.result import Result

from agent_memory.domain.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import Error
from agent_memory.formats.bookkeeping_json import parse_tag_vocabulary, render_tag_vocabulary


@define
class DictTagVocabulary:
    """`KeptVocabulary` in a variable. What is kept goes through its text form, as on disk."""

    text: str = field(factory=lambda: render_tag_vocabulary(TagVocabulary()))

    def get(self) -> Result[TagVocabulary, Error]:
        """See the port."""
        return parse_tag_vocabulary(self.text.encode(), VOCABULARY_FILE).alt(lambda corrupt: corrupt)

    def put(self, vocabulary: TagVocabulary) -> Result[str, Error]:
        """See the port."""
        self.text = render_tag_vocabulary(vocabulary)
        return self.get().map(lambda _: VOCABULARY_FILE)
