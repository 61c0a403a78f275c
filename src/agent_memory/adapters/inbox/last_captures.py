"""When which harness was captured, told from the names of inbox entries alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.domain.instants import ms_of
from agent_memory.domain.statistics.capture import Capture
from agent_memory.errors import Error
from agent_memory.results import sealed

_NAME = re.compile(r"(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)_([a-z][a-z-]*)_[0-9A-Za-z]+\.json", re.ASCII)


def last_captures(root: str) -> Result[Mapping[str, int], Error]:
    """The time of the newest entry of each harness, in epoch ms, by its name: waiting, worked on or given up."""

    def newest(captures: Iterable[Capture]) -> Mapping[str, int]:
        last: dict[str, int] = {}
        for each in captures:
            last[each.harness] = max(last.get(each.harness, 0), each.at_ms)
        return dict(sorted(last.items()))

    return all_captures(root).map(newest)


def all_captures(root: str) -> Result[list[Capture], Error]:
    """Every entry, in no order: waiting, worked on or given up."""
    captures: list[Capture] = []
    for relative in (INBOX, PROCESSED, FAILED):
        match sealed(names_inside(root, relative)):
            case Failure(error):
                return Failure(error)
            case Success(names):
                captures += [capture for capture in map(_capture, names) if capture is not None]
    return Success(captures)


def _capture(name: str) -> Capture | None:
    found = _NAME.fullmatch(name)
    at_ms = ms_of(f"{found[1]}{found[2]}:{found[3]}:{found[4]}") if found else None
    return Capture(found[5], at_ms) if found and at_ms is not None else None
