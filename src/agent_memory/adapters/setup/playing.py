"""A trial of what was installed: each hook command is run as its harness would run it. What captures is looked for in the
inbox; what injects is asked over a store of its own, with one note in it, and the note looked for in the answer."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE
from agent_memory.domain.installing.plans import Played
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, Play
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.plain_text import one_line
from agent_memory.values import frozen

LIMIT_SECONDS = 30.0

_NOTE_ID = "id__triaL1"
_NOTE_TITLE = "A note of the trial"
_NOTE = f"""---
id: {_NOTE_ID}
title: {_NOTE_TITLE}
kind: project
origin: user
scope: global
createdAt: 1767225600000
updatedAt: 1767225600000
---

The hook works.
"""


@frozen
class Playing:
    """Trials with this environment, whose sessions are to arrive in this root."""

    environ: Mapping[str, str]
    home: str
    root: Path

    def play(self, harness: str, play: Play) -> Played:
        """Run the command with a made-up session; nothing of it stays."""
        session = str(uuid.uuid4())
        command = play.command.replace(SESSION, session)
        payload = _filled(play.payload, {SESSION: session, DIRECTORY: self.home})
        data = b"" if payload is None else json.dumps(payload).encode()
        if play.act == "inject":
            return self._asked(harness, command, data)
        problem, _ = self._run(command, data, self.environ)
        try:
            arrived = self._taken_back(session)
        except OSError as error:
            unseen = f"what arrived cannot be looked at and removed: {error.filename or self.root} ({error.strerror})"
            return Played(harness, play.command, False, problem or unseen)
        if arrived:
            return Played(harness, play.command, True)
        return Played(
            harness, play.command, False, problem or "it ended well, but nothing arrived; see `memory status`"
        )

    def _asked(self, harness: str, command: str, data: bytes) -> Played:
        with TemporaryDirectory(prefix="agent-memory-trial-") as root:
            topics = Path(root) / "topics"
            topics.mkdir()
            (topics / f"{_NOTE_TITLE} -- {_NOTE_ID}.md").write_text(_NOTE, "utf-8")
            problem, answer = self._run(command, data, {**self.environ, ROOT_VARIABLE: root})
        if _NOTE_ID.encode() in answer:
            return Played(harness, command, True, act="inject")
        return Played(
            harness, command, False, problem or "it ended well, but said nothing; see `memory status`", "inject"
        )

    def _run(self, command: str, data: bytes, environ: Mapping[str, str]) -> tuple[str, bytes]:
        """What went wrong, as far as the call itself tells; and what it printed."""
        try:
            finished = subprocess.run(
                ["/bin/sh", "-c", command],
                input=data,
                capture_output=True,
                timeout=LIMIT_SECONDS,
                cwd=self.home,
                env=dict(environ),
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {LIMIT_SECONDS:g} s", b""
        except OSError as error:
            return f"/bin/sh cannot be run: {error.strerror}", b""
        if finished.returncode == 0:
            return "", finished.stdout
        said = one_line(finished.stderr.decode("utf-8", "replace"), 300)
        return f"it ended with status {finished.returncode}{f': {said}' if said else ''}", b""

    def _taken_back(self, session: str) -> bool:
        """Whether the session arrived; its entries are removed. Raises OSError where that cannot be done: what lies in the
        inbox unseen is not taken for nothing (P6)."""
        inbox = f"{self.root}/inbox"
        try:
            names = os.listdir(inbox)
        except FileNotFoundError:
            return False
        ours = [
            f"{inbox}/{name}"
            for name in names
            if name.endswith(".json") and not name.startswith(".") and _mentions(f"{inbox}/{name}", session)
        ]
        for path in ours:
            os.unlink(path)
        if ours:
            fsync_directory(inbox)
        return bool(ours)


def _mentions(path: str, session: str) -> bool:
    try:
        with open(path, "rb") as file:
            return session.encode() in file.read(1 << 18)
    except FileNotFoundError:
        return False


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    """The payload with our placeholders filled in."""
    if isinstance(value, str):
        for word, meant in words.items():
            value = value.replace(word, meant)
        return value
    if is_object(value):
        return {key: _filled(each, words) for key, each in value.items()}
    if is_list(value):
        return [_filled(each, words) for each in value]
    return value
