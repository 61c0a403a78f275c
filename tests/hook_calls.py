"""Calling the capture hook as a harness does: as a process, with a payload on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from agent_memory.capture.inbox_files import parse_inbox_entry
from agent_memory.session.queue import InboxEntry

ID = "3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11"
STOP: dict[str, Any] = {
    "session_id": ID,
    "transcript_path": f"/home/ada/.claude/projects/lamp/{ID}.jsonl",
    "cwd": "/nowhere/lamp",
    "hook_event_name": "Stop",
    "last_assistant_message": "WHAT SOMEBODY WROTE",
}

PAYLOADS: dict[str, dict[str, object]] = {
    "claude-code": {**STOP, "cwd": "/p"},
    "codex": {
        "session_id": ID,
        "transcript_path": f"/c/sessions/2026/02/13/rollout-2026-02-13T14-30-05-{ID}.jsonl",
        "cwd": "/p",
        "hook_event_name": "SessionEnd",
        "reason": "other",
        "turn_id": "1",
    },
    "cursor": {
        "conversation_id": ID,
        "session_id": ID,
        "hook_event_name": "sessionEnd",
        "cursor_version": "2026.09.28-64d2043",
        "workspace_roots": ["/p", "/v"],
        "transcript_path": None,
        "reason": "completed",
    },
    "gemini": {
        "session_id": ID,
        "transcript_path": "/g/tmp/lamp/chats/session-2026-02-13T14-30-10000000.jsonl",
        "cwd": "/p",
        "hook_event_name": "AfterAgent",
        "timestamp": "2026-02-13T14:30:05.000Z",
    },
    "copilot": {
        "sessionId": ID,
        "timestamp": 1_770_000_000_000,
        "cwd": "/p",
        "transcriptPath": f"/h/.copilot/session-state/{ID}/events.jsonl",
        "stopReason": "end_turn",
    },
    "goose": {"event": "Stop", "session_id": ID, "matcher_context": None, "working_dir": "/p"},
    "amp": {"type": "agent.end", "thread": {"id": ID}, "status": "done", "cwd": "/p"},
    "opencode": {"type": "session.idle", "properties": {"sessionID": ID}, "directory": "/p"},
    "pi": {"type": "agent_end", "sessionId": ID, "sessionFile": f"/s/x_{ID}.jsonl", "cwd": "/p"},
}
"""One of each harness, as it sends it."""

_MAIN = "import sys; from agent_memory.cli.entry import main; sys.exit(main())"
HOOK = [sys.executable, "-c", _MAIN, "capture", "--harness", "claude-code", "--hook"]


def payload(**members: object) -> bytes:
    return json.dumps({**STOP, **members}).encode()


def call(
    data: bytes | None = None, *, command: list[str] | None = None, cwd: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """One call; asserts what holds for every call: exit 0, not a byte on stdout or stderr."""
    finished = subprocess.run(
        command or HOOK,
        input=payload() if data is None else data,
        capture_output=True,
        timeout=30,
        cwd=cwd,
        env={**os.environ, **environ},
        check=False,
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"", b"")
    return finished


def inbox_of(root: Path) -> list[InboxEntry]:
    """The entries in the inbox, every one of them valid."""
    paths = sorted((root / "inbox").glob("*.json")) if root.exists() else []
    return [parse_inbox_entry(path.read_text()).unwrap() for path in paths]


def problems_of(home: Path) -> list[dict[str, str]]:
    """The lines of the hook log."""
    log = home / ".local" / "state" / "agent-memory" / "hook-log.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
