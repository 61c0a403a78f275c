"""Sessions of Copilot CLI and aider, captured and consolidated by the built-in: `memory` as a process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_memory.adapters.harness.aider import AiderChats
from aider_chats import AiderChat
from claude_transcripts import Conversation
from copilot_sessions import COPILOT_SESSION, CopilotEvents
from memory_process import Memory


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def consolidated(memory: Memory) -> list[dict[str, Any]]:
    done = memory("consolidate", "--json")
    assert (done.code, done.err) == (0, ""), done
    assert memory.pending() == []
    return memory.notes()


def by_kind(notes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {note["kind"]: note for note in notes}


def copilot_session(home: Path) -> Path:
    """Two prompts, two edits of which a sub-agent made one, two things to remember, and one that is still open."""
    events = CopilotEvents()
    events.user("The dev server still comes up on 8080. Move it to port 9191.")
    edit: dict[str, object] = {"path": "/srv/harbour/settings.py", "old_str": "8080", "new_str": "9191"}
    events.agent("I change the settings.", ("c1", "edit", edit), ("c2", "task", {"prompt": "Change the README."}))
    events.event("assistant.message", agent_id="a1", messageId="s1", content="Remember that I am a sub-agent.")
    events.result("c1", "File updated.")
    events.result("c2", "The README says 9191 now.")
    events.user("Remember that port 9090 belongs to the metrics exporter, nothing else may listen there.")
    events.user("We decided to keep the old port in the CHANGELOG, because operators search for it there.")
    events.agent("The dev server listens on 9191 now. The tests pass.")
    events.user("Then we still need to tell the staging team about the new port.")
    events.agent("Noted.")
    return events.write(home / ".copilot" / "session-state")


def aider_chat(home: Path, started: str = "2026-02-13 14:30:05") -> tuple[Path, str]:
    """The same in aider; the file and the id of its second run."""
    chat = AiderChat("2026-02-01 10:00:00")
    chat.user("Remember that the other run says nothing of harbours.")
    chat.run(started)
    chat.user("/add settings.py")
    chat.note("Added settings.py to the chat")
    chat.user("The dev server still comes up on 8080. Move it to port 9191.")
    chat.agent("settings.py\n```python\n<<<<<<< SEARCH\nPORT = 8080\n=======\nPORT = 9191\n>>>>>>> REPLACE\n```")
    chat.note("Applied edit to settings.py")
    chat.note("Commit 1a2b3c4 feat: Move the dev server to port 9191")
    chat.user("Remember that port 9090 belongs to the metrics exporter, nothing else may listen there.")
    chat.agent("#### Remember that agents write headings\n\nI will.")
    chat.user("We decided to keep the old port in the CHANGELOG, because operators search for it there.")
    chat.agent("The dev server listens on 9191 now. The tests pass.")
    path = chat.write(home / "harbour")
    _, run = AiderChats(str(home)).runs(str(path))
    return path, run.session_id


def check_notes(notes: list[dict[str, Any]], harness: str, session_id: str) -> None:
    kinds = by_kind(notes)
    assert "9090 belongs to the metrics exporter" in kinds["fact"]["body"]
    assert "keep the old port in the CHANGELOG" in kinds["decision"]["body"]
    for kind in ("fact", "decision"):
        assert kinds[kind]["origin"] == "user"
        (source,) = kinds[kind]["sources"]
        assert (source["harness"], source["threadId"]) == (harness, session_id)
    assert not any(word in note["body"] for note in notes for word in ("sub-agent", "headings", "other run"))


def test_a_copilot_session_told_by_its_hook_leaves_its_notes(memory: Memory) -> None:
    path = copilot_session(memory.home)
    told: dict[str, object] = {"sessionId": COPILOT_SESSION, "timestamp": 1_770_000_000_000, "cwd": str(memory.home)}
    for payload in ({**told, "transcriptPath": str(path), "stopReason": "end_turn"}, {**told, "reason": "complete"}):
        done = memory("capture", "--harness", "copilot", "--hook", data=json.dumps(payload).encode())
        assert (done.code, done.out, done.err) == (0, "", "")
    check_notes(consolidated(memory), "copilot", COPILOT_SESSION)


def test_a_copilot_session_told_by_claude_codes_hook_too_is_learnt_once(memory: Memory) -> None:
    copilot_session(memory.home)
    told = {"session_id": COPILOT_SESSION, "timestamp": "2026-02-13T14:30:05.000Z", "cwd": str(memory.home)}
    for harness in ("copilot", "claude-code"):
        payload = {**told, "hook_event_name": "SessionEnd", "reason": "complete"}
        memory("capture", "--harness", harness, "--hook", data=json.dumps(payload).encode())
    assert len(memory.pending()) == 2
    notes = consolidated(memory)
    check_notes(notes, "copilot", COPILOT_SESSION)
    assert len({note["title"] for note in notes}) == len(notes)


@pytest.mark.parametrize("named_by", ["path", "directory"])
def test_a_run_of_aider_leaves_its_notes_and_no_other_runs(memory: Memory, named_by: str) -> None:
    path, session_id = aider_chat(memory.home)
    words = ["--transcript", str(path)] if named_by == "path" else []
    done = memory("capture", "--harness", "aider", "--session", session_id, *words, cwd=path.parent)
    assert (done.code, done.err) == (0, "")
    check_notes(consolidated(memory), "aider", session_id)


@pytest.mark.parametrize("lay", [copilot_session, lambda home: aider_chat(home)[0]], ids=["copilot", "aider"])
def test_a_session_that_did_not_grow_is_learnt_once(memory: Memory, lay: Callable[[Path], Path]) -> None:
    """P7"""
    path = lay(memory.home)
    harness = "aider" if path.suffix == ".md" else "copilot"
    session_id = COPILOT_SESSION if harness == "copilot" else aider_chat(memory.home)[1]
    snapshots = []
    for _ in range(2):
        memory("capture", "--harness", harness, "--session", session_id, "--transcript", str(path))
        assert consolidated(memory)
        snapshots.append(memory.snapshot())
    assert snapshots[0] == snapshots[1]


def test_an_aider_chat_that_came_with_a_repository_teaches_nothing(memory: Memory) -> None:
    """P19"""
    path, session_id = aider_chat(memory.home)
    index = path.parent / ".git" / "index"
    index.parent.mkdir()
    (index.parent / "HEAD").write_text("ref: refs/heads/main\n")
    index.write_bytes(b"DIRC\0\0\0\2\0\0\0\1" + bytes(62) + b".aider.chat.history.md\0")
    memory("capture", "--harness", "aider", "--session", session_id, "--transcript", str(path))
    done = memory("consolidate", "--json")
    assert "git tracks it" in done.out + done.err
    assert memory.notes() == []


@pytest.mark.parametrize("entrypoint", ["sdk-py", "cli"])
def test_a_bots_session_is_captured_and_teaches_nothing(memory: Memory, entrypoint: str) -> None:
    """A person's, as the positive control, does."""
    talk = Conversation("s1")
    talk.user("Remember that port 9090 belongs to the metrics exporter.", entrypoint=entrypoint)
    talk.agent("Understood.", entrypoint=entrypoint)
    path = memory.home / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join(talk.lines) + b"\n")
    payload = {"session_id": "s1", "transcript_path": str(path), "cwd": "/nowhere", "hook_event_name": "Stop"}
    memory("capture", "--harness", "claude-code", "--hook", data=json.dumps(payload).encode())
    assert len(memory.pending()) == 1
    notes = consolidated(memory)
    assert [note["kind"] for note in notes if note["kind"] != "handoff"] == ([] if entrypoint == "sdk-py" else ["fact"])


def test_a_sub_agents_event_leads_to_the_session_that_started_it(memory: Memory) -> None:
    talk = Conversation("s1")
    talk.user("Remember that port 9090 belongs to the metrics exporter.")
    talk.agent("Understood.")
    projects = memory.home / ".claude" / "projects" / "p"
    (projects / "s1" / "subagents").mkdir(parents=True)
    (projects / "s1.jsonl").write_bytes(b"\n".join(talk.lines) + b"\n")
    own = Conversation("s1")
    own.user("Remember that sub-agents have orders of their own.", isSidechain=True)
    own_path = projects / "s1" / "subagents" / "agent-a1.jsonl"
    own_path.write_bytes(b"\n".join(own.lines) + b"\n")
    payload = {"session_id": "a1", "transcript_path": str(own_path), "cwd": "/p", "hook_event_name": "SubagentStop"}
    memory("capture", "--harness", "claude-code", "--hook", data=json.dumps(payload).encode())
    notes = consolidated(memory)
    assert {source["threadId"] for note in notes for source in note["sources"]} == {"s1"}
    assert "9090" in by_kind(notes)["fact"]["body"]
    assert not any("orders" in note["body"] for note in notes)
