"""Where a transaction leaves what undoes it: `runs/<run-id>/footprint-<n>.json`, written by the transaction itself (P16)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.store.entry_files import RUNS
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.errors import Error, PathRefused
from agent_memory.formats.footprint_json import render_footprint

_NAME = re.compile(r"footprint-(\d{1,9})\.json", re.ASCII)


def with_footprint(
    root: str, changes: Sequence[FileChange], run_id: str | None
) -> Result[tuple[FileChange, ...], Error]:
    """The changes and, unless there are none or they are of no run, the file that holds them."""
    if run_id is None or not changes:
        return Success(tuple(changes))
    directory = f"{RUNS}/{run_id}"
    if not is_plain_name(run_id) or run_id.startswith("."):
        return Failure(PathRefused(directory, "it is not a plain name"))
    return _next_number(root, directory).map(
        lambda number: (
            *changes,
            FileChange(
                f"{directory}/footprint-{number}.json", None, FileState(render_footprint(Footprint(tuple(changes))))
            ),
        )
    )


def _next_number(root: str, directory: str) -> Result[int, Error]:
    return names_inside(root, directory).map(
        lambda names: max((int(found[1]) for found in map(_NAME.fullmatch, names) if found), default=0) + 1
    )
