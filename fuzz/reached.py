"""Which lines of the package an input is the first to reach: what makes it worth changing further.

By `sys.settrace`, which every Python has. A function all of whose lines are known is traced no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

PACKAGE = "/agent_memory/"


class ReachedLines:
    """The lines that were reached so far."""

    def __init__(self) -> None:
        self._unknown: dict[CodeType, set[int]] = {}
        self._new = 0

    def reached_more(self, check: Callable[[bytes], None], data: bytes) -> bool:
        """Whether the check of this input reached a line that none reached before; it raises what the check raises."""
        self._new = 0
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            check(data)
        finally:
            sys.settrace(before)
        return self._new > 0

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        code = frame.f_code
        unknown = self._unknown.get(code)
        if unknown is None:
            ours = PACKAGE in code.co_filename
            unknown = {line for _, _, line in code.co_lines() if line is not None} if ours else set()
            self._unknown[code] = unknown
        return self._stepped if unknown else None

    def _stepped(self, frame: FrameType, event: str, _argument: object) -> Callable[..., Any] | None:
        unknown = self._unknown[frame.f_code]
        if event == "line" and frame.f_lineno in unknown:
            unknown.discard(frame.f_lineno)
            self._new += 1
        return self._stepped if unknown else None
