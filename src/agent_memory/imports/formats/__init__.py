"""The memories that `memory import` reads, a module each: what it is, where it usually lies, and how its records are read.

A new one is a module with a `SOURCE`, and its name here. What is read yields each record under an id that stays the same,
says of what it leaves out why, and raises UsageInvalid where there is no such memory; `imports.base` has what modules share.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from agent_memory.imports.base import Source

NAMES = (
    "claude", "codex", "claude-mem", "basic-memory", "openmemory", "mem0", "inosx", "cursorclaw", "agent-memory-store",
    "letta", "memory-bank", "cursor-rules", "okf", "jsonl", "markdown",
)  # fmt: skip


def source_of(name: str) -> Source:
    """Returns the memory of this name. Its module is loaded when it is first asked for."""
    return cast("Source", import_module(f"{__name__}.{name.replace('-', '_')}").SOURCE)
