from __future__ import annotations

import signal
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from returns.result import Result, Success

from agent_memory.app import Memory
from agent_memory.cli.main import main
from agent_memory.errors import Error
from agent_memory.pipelines.backfill import Watching


def test_a_signal_ends_it_while_it_begins_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler runs between any two steps of the watch: also where that holds the lock of the event."""

    def watch(
        _: Memory, _harnesses: object, _rest: object, stop: Event, *_sinks: object, **_named: object
    ) -> Result[Watching, Error]:
        with stop._cond:  # type: ignore[attr-defined] # pyright: ignore
            signal.raise_signal(signal.SIGTERM)
        assert stop.wait(10)
        return Success(Watching())

    before: dict[int, Any] = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(Memory, "watch", watch)
    try:
        assert main(["watch", "--wait-for-transcripts"]) == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
