"""Repositories, notes in them, and what a session that begins there is told."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from memory_process import Memory

AGENT = {"CLAUDE_CODE_CHILD_SESSION": "1"}
TEXT = "Deploys of the lamp run from main only."


def git(directory: Path, *words: str) -> None:
    who = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", **who}
    subprocess.run(["git", *words], cwd=directory, env=environ, check=True, capture_output=True)


def repository(path: Path, remote: str = "") -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", os.urandom(4).hex())
    if remote:
        git(path, "remote", "add", "origin", remote)
    return path


def remembered(memory: Memory, directory: Path, text: str = TEXT) -> None:
    assert memory("remember", text, "--kind", "decision", cwd=directory).code == 0


def told(memory: Memory, directory: Path, **environ: str) -> str:
    """What a session that begins there is told."""
    payload = {"session_id": os.urandom(4).hex(), "transcript_path": "/none", "cwd": str(directory)}
    data = json.dumps({**payload, "hook_event_name": "SessionStart", "source": "startup"}).encode()
    return memory("inject", "--harness", "claude-code", "--hook", data=data, cwd=directory, environ=environ).out
