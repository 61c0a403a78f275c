"""Sessions of Codex, the Gemini CLI and Pi, captured and consolidated by the built-in: `memory` as a process."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from attrs import frozen

from codex_rollouts import THREAD
from gemini_chats import CHAT
from memory_process import Memory
from pi_sessions import PI

FIXTURES = Path(__file__).parents[1] / "fixtures"


@frozen
class Kept:
    """Where a harness keeps the recording of its session, below the home."""

    harness: str
    session_id: str
    fixture: str
    place: str

    def lay(self, home: Path) -> Path:
        path = home / self.place
        path.parent.mkdir(parents=True)
        shutil.copyfile(FIXTURES / self.fixture, path)
        return path


KEPT = {
    "codex": Kept(
        "codex",
        THREAD,
        "codex/port-change.jsonl",
        f".codex/sessions/2026/02/13/rollout-2026-02-13T14-30-05-{THREAD}.jsonl",
    ),
    "gemini": Kept(
        "gemini",
        CHAT,
        "gemini/port-change.jsonl",
        f".gemini/tmp/harbour/chats/session-2026-02-13T14-30-{CHAT[:8]}.jsonl",
    ),
    "gemini document": Kept(
        "gemini", CHAT, "gemini/port-change.json", f".gemini/tmp/harbour/chats/session-2026-02-13T14-30-{CHAT[:8]}.json"
    ),
    "pi": Kept(
        "pi", PI, "pi/port-change.jsonl", f".pi/agent/sessions/--srv-harbour--/2026-07-21T15-01-22-931Z_{PI}.jsonl"
    ),
}


@pytest.fixture(params=list(KEPT))
def kept(request: pytest.FixtureRequest) -> Kept:
    return KEPT[request.param]


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.unrecorded(home)


def consolidated(memory: Memory) -> None:
    done = memory("consolidate", "--json")
    assert (done.code, done.err) == (0, ""), done
    assert memory.pending() == []


def check_notes(memory: Memory, kept: Kept) -> None:
    by_kind = {note["kind"]: note for note in memory.notes() if note["kind"] != "handoff"}
    assert "9090 belongs to the metrics exporter" in by_kind["fact"]["body"]
    assert "keep the old port in the CHANGELOG" in by_kind["decision"]["body"]
    for note in by_kind.values():
        assert note["origin"] == "user"
        (source,) = note["sources"]
        assert (source["harness"], source["threadId"]) == (kept.harness, kept.session_id)
        assert "9292" not in note["body"]


def test_a_session_that_is_named_by_its_path_leaves_its_notes(memory: Memory, kept: Kept) -> None:
    path = kept.lay(memory.home)
    done = memory("capture", "--harness", kept.harness, "--session", kept.session_id, "--transcript", str(path))
    assert (done.code, done.err) == (0, "")
    consolidated(memory)
    check_notes(memory, kept)


def test_a_session_that_is_named_by_its_id_is_found_and_learnt_once(memory: Memory, kept: Kept) -> None:
    """P7, P27"""
    kept.lay(memory.home)
    for _ in range(2):
        done = memory("capture", "--harness", kept.harness, "--session", kept.session_id)
        assert (done.code, done.err) == (0, "")
        consolidated(memory)
    check_notes(memory, kept)
    before = memory.snapshot()
    memory("consolidate")
    assert memory.snapshot() == before


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_hooks_payload_leads_to_the_notes(memory: Memory, name: str) -> None:
    kept = KEPT[name]
    payload = {
        "session_id": kept.session_id,
        "transcript_path": str(kept.lay(memory.home)),
        "cwd": str(memory.home),
        "hook_event_name": "SessionEnd",
    }
    done = memory("capture", "--harness", kept.harness, "--hook", data=json.dumps(payload).encode())
    assert (done.code, done.out) == (0, "")
    consolidated(memory)
    check_notes(memory, kept)
