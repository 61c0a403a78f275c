"""The room of `memory state`, and of the state tools of MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_memory.adapters.records.state_keys_files import StateKeysFiles
from agent_memory.adapters.records.tag_vocabulary_file import TagVocabularyFile
from agent_memory.state_keeping import StateKeeping

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def state_keeping(memory: Memory) -> StateKeeping:
    """See `Memory.state`."""
    return StateKeeping(
        StateKeysFiles(memory.root),
        memory.recorder,
        memory.locks,
        memory.clock,
        memory.caller,
        memory.warn,
        TagVocabularyFile(memory.root).get,
    )
