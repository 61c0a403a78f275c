"""A memory of which a test brings some parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_memory.app import Memory, open_memory
from agent_memory.domain.entry import Caller


def memory_over(root: Path, warn: Callable[[str], None] = print, caller: Caller | None = None, **parts: Any) -> Memory:
    """The memory in a directory, with these parts in the place of its own."""
    memory = open_memory({"HOME": str(root), "AGENT_MEMORY_ROOT": str(root)}, root, warn).unwrap()
    memory = memory if caller is None else memory.called_by(caller)
    vars(memory).update(parts)
    return memory
