"""Chat histories of aider for tests, and its records of what was typed, byte for byte as aider/io.py (0.86) writes them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_memory.errors import Error
from agent_memory.harness.aider import CHAT_FILE, INPUT_FILE, AiderChats
from agent_memory.note.note import Harness
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import InboxEntry
from harness_surroundings import fetch_from, session_entry, surroundings

AIDER_STARTED = "2026-02-13 14:30:05"


class AiderChat:
    """One file, to which runs and what is said in them are appended."""

    def __init__(self, started: str = AIDER_STARTED) -> None:
        self.text = ""
        self.typed = ""
        self.ends: list[int] = []
        """Where each write ended."""
        self.run(started)

    def append(self, written: str) -> None:
        self.text += written
        self.ends.append(len(self.text))

    def run(self, started: str) -> None:
        self.append(f"\n# aider chat started at {started}\n\n")
        for line in ("/usr/bin/aider --model gpt-6", "Aider v0.86.1", "Main model: gpt-6 with diff edit format"):
            self.note(line)
        self.note("Git repo: .git with 12 files")

    def user(self, text: str) -> None:
        lines = "  \n#### ".join(text.splitlines() or ["<blank>"])
        self.append(f"\n#### {lines}".rstrip() + "  \n")
        self.typed += "\n# 2026-02-13 14:30:05.123456\n" + "".join(f"+{line}\n" for line in text.split("\n"))

    def agent(self, text: str) -> None:
        self.append(f"\n{text.strip()}\n\n")
        self.note("Tokens: 2.1k sent, 100 received. Cost: $0.01 message, $0.02 session.")

    def note(self, text: str) -> None:
        self.append(f"> {text.strip()}  \n")

    def write(self, directory: Path, name: str = CHAT_FILE) -> Path:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        path.with_name(INPUT_FILE).write_text(self.typed)
        subprocess.run(["git", "init", "--quiet", str(path.parent)], check=True)  # what is typed counts in a work tree
        return path


def aider_entry(path: Path | None, session_id: str = "all") -> InboxEntry:
    return session_entry(Harness.AIDER, session_id, path)


def aider_history(path: Path, mark: SessionMark | None = None, session_id: str = "all") -> History:
    history: History = fetch_from(AiderChats(surroundings(path.parent)), aider_entry(path, session_id), mark).unwrap()
    return history


def aider_failure(path: Path, session_id: str = "all") -> Error:
    error: Error = fetch_from(AiderChats(surroundings(path.parent)), aider_entry(path, session_id)).failure()
    return error
