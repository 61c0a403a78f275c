"""The trial at the end of setup: memory is called as the harness will call it, and what it did is looked at and removed."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.disk.root import ROOT_VARIABLE
from agent_memory.domain.installing.plan import SelfTestResult
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, SelfTest
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.plain_text import one_line

LIMIT_SECONDS = 30.0
_MOST_BYTES_OF_AN_ENTRY = 1 << 18

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
class SelfTests:
    """Calls with this environment, whose sessions are to arrive in this root."""

    environ: Mapping[str, str]
    home: str
    root: Path

    def run(self, harness: str, test: SelfTest) -> SelfTestResult:
        """Run the command with a made-up session; nothing of it stays."""
        session = str(uuid.uuid4())
        command = test.command.replace(SESSION, session)
        data = json.dumps(_filled(test.payload, {SESSION: session, DIRECTORY: self.home})).encode()
        if test.act == "inject":
            problem = self._injection_problem(command, data)
        else:
            problem = self._capture_problem(command, data, session)
        return SelfTestResult(harness, test.command, not problem, problem, test.act)

    def _capture_problem(self, command: str, data: bytes, session: str) -> str:
        problem, _ = self._called(command, data, self.environ)
        try:
            if self._taken_back(session):
                return ""
        except OSError as error:
            place = error.filename or self.root
            return problem or f"what arrived cannot be looked at and removed: {place} ({error.strerror})"
        return problem or "it ended well, but nothing arrived; see `memory status`"

    def _injection_problem(self, command: str, data: bytes) -> str:
        with TemporaryDirectory(prefix="agent-memory-trial-") as root:
            topics = Path(root) / "topics"
            topics.mkdir()
            (topics / f"{_NOTE_TITLE} -- {_NOTE_ID}.md").write_text(_NOTE, "utf-8")
            problem, answer = self._called(command, data, {**self.environ, ROOT_VARIABLE: root})
        if _NOTE_ID.encode() in answer:
            return ""
        return problem or "it ended well, but said nothing; see `memory status`"

    def _called(self, command: str, data: bytes, environ: Mapping[str, str]) -> tuple[str, bytes]:
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
        paths = [f"{inbox}/{name}" for name in names if name.endswith(".json") and not name.startswith(".")]
        ours = [path for path in paths if _mentions(path, session)]
        for path in ours:
            os.unlink(path)
        if ours:
            fsync_directory(inbox)
        return bool(ours)


def _mentions(path: str, session: str) -> bool:
    try:
        with open(path, "rb") as file:
            return session.encode() in file.read(_MOST_BYTES_OF_AN_ENTRY)
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
    return [_filled(each, words) for each in value] if is_list(value) else value
