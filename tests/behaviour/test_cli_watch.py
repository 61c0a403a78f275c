"""`memory watch` as its users run it: in the foreground, until a signal ends it."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_transcripts import Conversation, calls
from forked_program import RunningCall
from memory_process import LIMIT_SECONDS, Memory

ONE = "11111111-2222-4333-8444-555555555555"
OWN = "99999999-2222-4333-8444-555555555555"


def projects(memory: Memory) -> Path:
    path = memory.home / ".claude" / "projects" / "-srv-harbour"
    path.mkdir(parents=True, exist_ok=True)
    return path


def talk(session_id: str, *said: str) -> Conversation:
    return Conversation(session_id, started_ms=int(time.time() * 1000) - 60_000).exchange(*said)


class Watched:
    """A watch at work; its lines are read as they come."""

    def __init__(self, process: RunningCall) -> None:
        self.process = process
        self.lines: list[str] = []
        self._came = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._came:
                self.lines.append(line.decode().rstrip("\n"))
                self._came.notify_all()

    def line(self, number: int) -> str:
        """The line of this number (from 1), once it came."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.lines) >= number, LIMIT_SECONDS), self.lines
        return self.lines[number - 1]

    def line_after(self, number: int, transcript: Path) -> str:
        """The line of this number, which tells of this transcript: it changes until the watch, once at work, sees it."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while len(self.lines) < number and time.monotonic() < deadline:
            transcript.touch()
            with self._came:
                self._came.wait_for(lambda: len(self.lines) >= number, 3)
        return self.line(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it said on stderr."""
        self.process.send_signal(number)
        error = self.process.stderr.read().decode()
        return self.process.wait(LIMIT_SECONDS), error


@contextmanager
def watching(memory: Memory, *words: str) -> Iterator[Watched]:
    with memory.start("watch", *words) as process:
        watched = Watched(process)
        try:
            yield watched
        finally:
            process.kill()
            watched.reader.join(LIMIT_SECONDS)


def test_a_session_that_rests_is_captured_and_handed_over(memory: Memory) -> None:
    with watching(memory, "--wait-for-transcripts", "--debounce", "0.2", "--idle-timeout", "1") as watched:
        own = talk(OWN, "[agent-memory:agent-call:v1]\nnonce: 1").write(projects(memory))
        assert f"left out claude-code {OWN}" in watched.line_after(1, own)
        work = talk(ONE, "Fix the lamp in the harbour, please.", "And then paint it.")
        work.agent(calls("t1", "Edit", file_path="/srv/harbour/lamp.py"))
        work.write(projects(memory))
        assert f"captured claude-code {ONE}: about " in watched.line(2)
        assert f"handed over claude-code {ONE}: id__" in watched.line(3)
        code, error = watched.end()
    assert (code, error) == (0, "")
    assert len(memory.pending()) == 1
    assert [note["kind"] for note in memory.notes()] == ["handoff"]
    assert memory("consolidate").code == 0
    assert memory.pending() == []


def test_it_waits_for_transcripts_only_when_it_is_told_to(memory: Memory) -> None:
    done = memory("watch")
    assert (done.code, done.out) == (2, "")
    assert "--wait-for-transcripts" in done.err
    with watching(memory, "--wait-for-transcripts", "--debounce", "0.1", "--idle-timeout", "0") as watched:
        transcript = talk(ONE, "Fix the lamp.").write(projects(memory))
        assert "captured" in watched.line_after(1, transcript)
        assert watched.end(signal.SIGINT) == (0, "")


def test_json_is_one_document_at_the_end(memory: Memory) -> None:
    transcript = talk(ONE, "Fix the lamp.").write(projects(memory))
    with watching(memory, "--debounce", "0.1", "--json") as watched:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not memory.pending() and time.monotonic() < deadline:
            transcript.touch()
            time.sleep(1)
        assert watched.end() == (0, "")
    document = json.loads("\n".join(watched.lines))
    assert document == {"captured": 1, "handedOver": 0, "problems": []}
