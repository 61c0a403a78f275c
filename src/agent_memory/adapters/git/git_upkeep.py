"""Keeping the repository of a store small: nothing else packs it, since our commits switch git's own upkeep off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_directory
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.errors import Error

LOOSE_OBJECTS = 2_000
"""From about here on they are packed: some months of daily work."""


def pack_history(root: Path, environ: Mapping[str, str]) -> Result[None, Error]:
    """Pack the objects of `<root>/.git` where there are many loose ones; nothing where there is no repository. The caller
    holds the write lock."""

    def packed() -> Result[None, Error]:
        arguments = ("gc", "--auto", "--quiet")
        config = (f"gc.auto={LOOSE_OBJECTS}", "gc.autoDetach=false")
        called = GitProcess(root, environ).run(*arguments, config=config)
        return called.bind(lambda output: Success(None) if output.ok else Failure(failed(arguments, output)))

    return is_directory(str(root / ".git")).bind(lambda is_there: packed() if is_there else Success(None))
