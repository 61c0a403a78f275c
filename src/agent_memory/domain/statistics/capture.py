"""That a session or a note was captured."""

from __future__ import annotations

from typing import NamedTuple


class Capture(NamedTuple):
    """One inbox entry, whatever became of it."""

    harness: str
    at_ms: int
