"""Keeping the repository of a store small: nothing else packs it, since our commits switch git's own upkeep off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.errors import Error

LOOSE_OBJECTS = 2_000
"""From about here on they are packed: some months of daily work."""


def pack_history(root: Path, environ: Mapping[str, str]) -> Result[None, Error]:
    """Pack the objects of `<root>/.git` where there are many loose ones; nothing where there is no repository. The caller
    holds the write lock."""
    if not (root / ".git").is_dir():
        return Success(None)
    arguments = ("gc", "--auto", "--quiet")
    config = (f"gc.auto={LOOSE_OBJECTS}", "gc.autoDetach=false")
    packed = GitProcess(root, environ).run(*arguments, config=config)
    return packed.bind(lambda output: Success(None) if output.ok else Failure(failed(arguments, output)))
