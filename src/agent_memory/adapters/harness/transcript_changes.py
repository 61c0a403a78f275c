"""Waiting until transcripts may have changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from threading import Event
from time import monotonic
from typing import Any

from attrs import define, field

POLL_SECONDS = 2.0
_LIBRARY = "watchfiles"
_STEP_MS = 100
_TURN_MS = 500
"""How long it is waited for a change before the time is looked at again."""


def poll(stop: Event, seconds: float) -> None:
    """Returns after at most so many seconds, or once the event is set: whoever waits looks every `POLL_SECONDS`."""
    stop.wait(min(seconds, POLL_SECONDS))


@define
class NotifiedChanges:
    """Is told by the operating system what changes below directories, through the library watchfiles."""

    stop: Event
    directories: Sequence[str]
    _library: Any
    _watched: tuple[str, ...] = ()
    _changes: Iterator[object] = field(factory=lambda: iter(()))

    def __call__(self, seconds: float) -> None:
        """Returns after at most so many seconds, once something changed, or once the event is set.

        Directories that come into being are watched from the next call on; until there is one, whoever waits looks.
        """
        there = tuple(directory for directory in self.directories if os.path.isdir(directory))
        if there != self._watched:
            self._watched, self._changes = there, self._watch(there)
            next(self._changes, None)  # it watches from here on: what changed before is for the look that comes next
            return
        if not there:
            poll(self.stop, seconds)
            return
        ends_at = monotonic() + seconds
        while not self.stop.is_set() and monotonic() < ends_at:
            if next(self._changes, None):
                return

    def _watch(self, directories: tuple[str, ...]) -> Iterator[object]:
        if not directories:
            return iter(())
        changes: Iterator[object] = self._library.watch(
            *directories,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_STEP_MS,
            rust_timeout=_TURN_MS,
            yield_on_timeout=True,
            stop_event=self.stop,
            raise_interrupt=False,
            recursive=True,
            ignore_permission_denied=True,
        )
        return changes


def transcript_changes(stop: Event, directories: Sequence[str]) -> Callable[[float], None]:
    """By notification where the library is installed, else by looking: the same is captured, only how soon it is seen
    differs by `POLL_SECONDS`."""
    try:
        library = import_module(_LIBRARY)
    except ImportError:
        return partial(poll, stop)
    return NotifiedChanges(stop, directories, library)
