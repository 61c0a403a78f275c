"""Files of the same name in the directories of all runs. What cannot be looked at is never taken for missing (P6), as the
globs of `pathlib` do where permission is denied."""

from __future__ import annotations

import os
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.errors import Error


def files_of_runs(runs: Path, relative: str) -> list[Path]:
    """`runs/<run-id>/<relative>` of every run that has it, oldest run first. Raises OSError."""
    try:
        with os.scandir(runs) as found:
            names = sorted(each.name for each in found if each.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    return [path for path in (runs / name / relative for name in names) if lies_there(str(path))]


def some_run_has(root: Path, relative: str) -> Result[bool, Error]:
    """Whether the directory of any run has such a file."""
    runs = root / "runs"
    try:
        return Success(bool(files_of_runs(runs, relative)))
    except OSError as error:
        return Failure(store_io(error, "look through", str(runs)))
