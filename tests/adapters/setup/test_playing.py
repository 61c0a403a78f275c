"""Trials of a harness's hook: what arrived is removed again, and what cannot be looked at is not taken for nothing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from agent_memory.adapters.setup.installation import Playing
from agent_memory.domain.installing.wanted import SESSION, Play


@pytest.fixture
def playing(tmp_path: Path) -> Playing:
    (tmp_path / "memories" / "inbox").mkdir(parents=True)
    (tmp_path / "memories" / "inbox" / "another.json").write_text("{}")
    return Playing({"PATH": os.environ["PATH"]}, str(tmp_path), tmp_path / "memories")


def arriving(playing: Playing) -> Play:
    return Play(f"echo {SESSION} > {shlex.quote(str(playing.root))}/inbox/trial.json", {"session_id": SESSION})


def entries(playing: Playing) -> list[str]:
    return sorted(path.name for path in (playing.root / "inbox").iterdir())


def test_a_session_that_arrives_is_removed_and_no_other(playing: Playing) -> None:
    assert playing.play("cursor", arriving(playing)).arrived
    assert entries(playing) == ["another.json"]


def test_nothing_that_arrives_is_told(playing: Playing) -> None:
    played = playing.play("cursor", Play("true", {}))
    assert not played.arrived
    assert "nothing arrived" in played.problem


@pytest.mark.parametrize("call", ["listdir", "unlink"])
def test_an_inbox_that_cannot_be_looked_at_is_not_an_empty_one_p6(
    playing: Playing, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Any, **_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, call, refuse)
    played = playing.play("cursor", arriving(playing))
    assert not played.arrived
    assert "cannot be looked at and removed" in played.problem
    assert "Permission denied" in played.problem
