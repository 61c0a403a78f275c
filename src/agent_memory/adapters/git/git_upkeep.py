"""Keeping the repository of a store small: nothing else packs it, since our commits switch git's own upkeep off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_directory
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.errors import Error

LOOSE_OBJECTS = 2_000
"""From about here on they are packed: some months of daily work."""
LOOSE_KIB = 128 << 10
"""From here on, too: each commit of a store of 50,000 notes leaves a list of their names, of some megabytes."""

_SIZE = re.compile(rb"^size: ([0-9]{1,15})$", re.MULTILINE)


def pack_history(root: Path, environ: Mapping[str, str]) -> Result[None, Error]:
    """Pack the objects of `<root>/.git` where there are many or large loose ones; nothing where there is no repository. The
    caller holds the write lock."""
    git = GitProcess(root, environ)

    def packed() -> Result[None, Error]:
        when = () if _loose_kib(git) >= LOOSE_KIB else ("--auto",)
        arguments = ("gc", *when, "--quiet")
        called = git.run(*arguments, config=(f"gc.auto={LOOSE_OBJECTS}", "gc.autoDetach=false"))
        return called.bind(lambda output: Success(None) if output.ok else Failure(failed(arguments, output)))

    return is_directory(str(root / ".git")).bind(lambda is_there: packed() if is_there else Success(None))


def _loose_kib(git: GitProcess) -> int:
    """What loose objects take on disk; 0 where git does not say."""
    counted = git.run("count-objects", "-v").map(lambda output: _SIZE.search(output.stdout))
    found = counted.value_or(None)
    return int(found[1]) if found else 0
