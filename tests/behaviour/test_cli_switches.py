"""Pauses, projects that memory stays out of, and incognito sessions: nothing is captured there, and nobody told anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_memory.app import Memory as Opened, open_memory
from hook_calls import problems_of
from memory_process import Memory
from places_of_work import TEXT, remembered, repository, told

TWO_HOURS_MS = 7_200_000


@pytest.fixture
def lamp(memory: Memory, home: Path) -> Path:
    """A repository with a note."""
    lamp = repository(home / "work" / "lamp", "git@github.com:me/lamp")
    remembered(memory, lamp)
    return lamp


def hook(memory: Memory, directory: Path, session: str = "s-1", **environ: str) -> bool:
    """A session there ends; whether it was captured."""
    before = memory.pending()
    payload = {"session_id": session, "transcript_path": "/none", "cwd": str(directory), "hook_event_name": "Stop"}
    data = json.dumps(payload).encode()
    assert memory("capture", "--harness", "claude-code", "--hook", data=data, cwd=directory, environ=environ).out == ""
    return memory.pending() != before


def is_known(memory: Memory, directory: Path) -> bool:
    """Whether memory captures and tells there; it does both or neither."""
    captured = hook(memory, directory, os.urandom(4).hex())
    assert (TEXT in told(memory, directory)) is captured
    return captured


def switches(memory: Memory, directory: Path) -> str:
    status = memory("status", "--json", cwd=directory)
    assert status.code == 0, "as the person wants it"
    return " ".join(status.document["switches"])


def opened(memory: Memory, directory: Path) -> Opened:
    return open_memory({**os.environ, "AGENT_MEMORY_ROOT": str(memory.root)}, directory, print).unwrap()


def test_a_pause_holds_until_somebody_resumes(memory: Memory, lamp: Path, home: Path) -> None:
    assert is_known(memory, lamp)
    assert memory("pause", cwd=lamp).out == "Memory is paused until `memory resume`.\n"
    assert not is_known(memory, lamp)
    assert not is_known(memory, lamp)
    assert switches(memory, lamp) == "Memory is paused until `memory resume`."
    logged = [(each["code"], each.get("act", "capture")) for each in problems_of(home)]
    assert logged == [("paused", "capture")], "once"
    assert memory("resume", cwd=lamp).out == "Ended 1 pause.\n"
    assert is_known(memory, lamp)
    assert switches(memory, lamp) == ""
    assert memory("resume", cwd=lamp).out == "No pause was ended.\n"


def test_projects_are_listed_with_what_memory_does_there(memory: Memory, lamp: Path, home: Path) -> None:
    store = opened(memory, lamp)
    told(memory, lamp)  # by which its directory is known
    assert store.pause("github.com/me/lamp", TWO_HOURS_MS).unwrap().path == str(lamp)
    (project,) = store.projects().unwrap()
    assert (project.scope, project.notes, project.path, project.switch) == (
        "github.com/me/lamp",
        1,
        str(lamp),
        "paused",
    )
    assert [each.scope for each in store.resume().unwrap()] == ["github.com/me/lamp"]
    assert store.exclude_project(str(lamp)).unwrap() == "github.com/me/lamp"
    assert json.loads((home / ".config/agent-memory/config.json").read_text())["projects"] == {
        "exclude": ["github.com/me/lamp"]
    }
    assert [each.switch for each in store.projects().unwrap()] == ["excluded"]
    assert store.exclude_project(str(lamp), include=True).unwrap() == "github.com/me/lamp"
    assert [each.switch for each in store.projects().unwrap()] == [""]
