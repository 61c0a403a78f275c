"""The vocabulary of tags on disk: `state/project_tags.json`, replaced as a whole (P2)."""

from __future__ import annotations

from pathlib import Path

from returns.result import Result, Success

from agent_memory.adapters.disk.file_in_root import put_file
from agent_memory.adapters.disk.paths import FileImage, inside, read_file, real_root
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, TagVocabulary
from agent_memory.errors import Error
from agent_memory.formats.tag_vocabulary_json import parse_tag_vocabulary, render_tag_vocabulary

_MAX_BYTES = 4 << 20


class TagVocabularyFile:
    """`KeptVocabulary` under a root."""

    def __init__(self, root: Path) -> None:
        self._root = real_root(root)

    def get(self) -> Result[TagVocabulary, Error]:
        """See the port."""

        def parsed(image: FileImage | None) -> Result[TagVocabulary, Error]:
            if image is None:
                return Success(TagVocabulary())
            return parse_tag_vocabulary(image.data, f"{self._root}/{VOCABULARY_FILE}").alt(lambda corrupt: corrupt)

        return inside(self._root, VOCABULARY_FILE).bind(lambda path: read_file(path, _MAX_BYTES)).bind(parsed)

    def put(self, vocabulary: TagVocabulary) -> Result[str, Error]:
        """See the port."""
        return put_file(self._root, VOCABULARY_FILE, render_tag_vocabulary(vocabulary)).map(lambda _: VOCABULARY_FILE)
