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
