"""The vocabulary of tags as JSON, version 1:

    {"version": 1, "vocabulary": ["area__web", "topic__deploy"], "renamed": {"topic__deployment": "topic__deploy"}}

A person may write less: a list of tags, or an object with the list under `vocabulary` (as agent-memory-store has it), also
within `value`. Every tag is read in its normal form; a word without a prefix is good for any prefix.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import Json
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.text.tags import normal_tag
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

VERSION = 1
_SHAPE = 'it is no vocabulary: expected {"vocabulary": ["topic__x", …]}'


def render_tag_vocabulary(vocabulary: TagVocabulary) -> str:
    """JSON, one tag a line, sorted, so that its changes read well in git."""
    document = {
        "version": VERSION,
        "vocabulary": sorted(vocabulary.accepted),
        "renamed": dict(sorted(vocabulary.renamed.items())),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def parse_tag_vocabulary(data: bytes, path: str) -> Result[TagVocabulary, StateCorrupt]:
    """The vocabulary; what is none is StateCorrupt, never an empty one (P6)."""
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success(document):
            found = _read(document)
            return Failure(StateCorrupt(path, (_SHAPE,))) if found is None else Success(found)


def _read(document: Json) -> TagVocabulary | None:
    match document:
        case list(words):
            return TagVocabulary(_accepted(words))
        case {"vocabulary": list(words), "renamed": dict(renamed)}:
            return TagVocabulary(_accepted(words), _renamed(renamed))
        case {"vocabulary": list(words)}:
            return TagVocabulary(_accepted(words))
        case {"value": value}:
            return _read(value)
        case _:
            return None


def _accepted(words: Iterable[object]) -> frozenset[str]:
    tags = ((word, normal_tag(word)) for word in words if isinstance(word, str))
    return frozenset(tag if "__" in word else tag.partition("__")[2] for word, tag in tags if tag is not None)


def _renamed(pairs: Mapping[str, object]) -> dict[str, str]:
    """Without chains and circles, whatever a person wrote: what is a present name is no earlier one."""
    normal = {normal_tag(old): normal_tag(new) for old, new in pairs.items() if isinstance(new, str)}
    present = set(normal.values())
    return {old: new for old, new in normal.items() if old is not None and new is not None and old not in present}
