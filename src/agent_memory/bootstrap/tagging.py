"""The room of `memory tags`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_memory.adapters.records.tag_vocabulary_file import TagVocabularyFile
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.tag_keeping import TagKeeping

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def kept_vocabulary(memory: Memory) -> TagVocabulary:
    """For whoever writes notes; an empty one where it cannot be read, which `memory doctor` tells."""
    return TagVocabularyFile(memory.root).get().value_or(TagVocabulary())


def tag_keeping(memory: Memory) -> TagKeeping:
    """See `Memory.tags`."""
    writes = RecordedWrites(memory.store, memory.recorder, memory.locks, memory.caller, memory.warn, memory.publish)
    return TagKeeping(
        memory.store,
        TagVocabularyFile(memory.root),
        memory.recorder,
        memory.locks,
        memory.caller,
        writes,
        memory.warn,
    )
