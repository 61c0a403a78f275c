"""A home in which somebody has worked for years: a store of many notes under git, a target, a project, and new sessions.

What is run in it is the installed command, as a process from start to end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from bench.invented_notes import Texts, add_line, write_notes
from bench.invented_sessions import SESSION, record, text_message, working_session
from bench.measure import Took, run, scratch_environment

SESSION_BYTES = 200_000
BUILD_INDEX = """
import sys
from agent_memory.recall.note_index import note_index
note_index(sys.argv[1]).refresh().unwrap()
"""
LOOK_AT_ALL = """
import os, sys
with os.scandir(sys.argv[1]) as found:
    for each in found:
        each.stat(follow_symlinks=False)
"""
READ_ALL = """
import os, sys
total = 0
with os.scandir(sys.argv[1]) as found:
    for each in found:
        with open(each.path, "rb") as file:
            total += len(file.read())
"""


class PopulatedHome:
    """`count` notes, nothing of them recorded, indexed or tidied yet."""

    def __init__(self, work: Path, memory: str, count: int) -> None:
        self.work, self.memory, self.root = work, memory, work / "store"
        self.environ = scratch_environment(work)
        texts = Texts.new()
        write_notes(self.root, texts.entries(count))
        self.query = " ".join(texts.queries(1)[0])
        self.project = repository(work / "harbour")
        config = work / ".config" / "agent-memory" / "config.json"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps({"agentsMd": {"targets": ["~/AGENTS.md"]}}))
        self._notes: Iterator[Path] = iter(sorted((self.root / "topics").iterdir()))
        self._sessions = 0
        self._session = ""

    def call(self, *words: str, input: bytes = b"", ends_well: Collection[int] = (0,)) -> Took:
        """One `memory` process."""
        command = [self.memory, *words]
        return run(command, environ=self.environ, cwd=self.project, input=input, ends_well=ends_well)

    def hook(self, command: str, event: str, **members: object) -> Took:
        """What Claude Code calls at an event: of a new session at its start, else of the last that began."""
        if event == "SessionStart" or not self._session:
            self._session = self.new_session()
        payload = {
            "session_id": self._session,
            "transcript_path": str(self.transcript(self._session)),
            "cwd": str(self.project),
            "hook_event_name": event,
            **members,
        }
        return self.call(command, "--hook", "--harness", "claude-code", input=json.dumps(payload).encode())

    def look_at_all(self) -> Took:
        """A process that looks at every note from outside, as whoever wants to know what changed has to."""
        return run((sys.executable, "-c", LOOK_AT_ALL, str(self.root / "topics")))

    def ask_git(self) -> Took:
        """`git status`, which looks at every note, too; it leaves git's index as it is, as our calls do."""
        return run(("git", "--no-optional-locks", "-C", str(self.root), "status", "--porcelain"), environ=self.environ)

    def commit_one(self) -> Took:
        """What git by itself takes to record that one note was changed."""
        path = next(self._notes)
        add_line(path)
        script = (
            'git add "$0" && git -c user.name=bench -c user.email=bench@localhost commit --quiet --message "One note"'
        )
        return run(("sh", "-c", script, str(path.relative_to(self.root))), environ=self.environ, cwd=self.root)

    def read_all(self) -> Took:
        """A process that reads every note, and does nothing with it."""
        return run((sys.executable, "-c", READ_ALL, str(self.root / "topics")))

    def id_of_first(self) -> str:
        """The id of some note."""
        return next((self.root / "topics").iterdir()).stem.rpartition(" ")[2]

    def change_one(self) -> None:
        """A line more, by hand, in a note that was not changed before."""
        add_line(next(self._notes))

    def touch_half(self) -> None:
        """As when git writes every other note anew."""
        for path in sorted((self.root / "topics").iterdir())[::2]:
            os.utime(path)

    def build_index(self) -> None:
        """All of it: a search takes in a second's worth."""
        run((sys.executable, "-c", BUILD_INDEX, str(self.root)), environ=self.environ)

    def new_session(self) -> str:
        """An id that no session had before."""
        self._sessions += 1
        return f"{self._sessions:08x}{SESSION[8:]}"

    def transcript(self, session: str) -> Path:
        return self.work / ".claude" / "projects" / "-harbour" / f"{session}.jsonl"

    def capture_session(self) -> None:
        """A session of ordinary length in the inbox, in which the person asks for one thing to be remembered."""
        session = self.new_session()
        path = self.transcript(session)
        path.parent.mkdir(parents=True, exist_ok=True)
        asked = f"Remember that berth {self._sessions} of the north basin takes a draught of {self._sessions} metres."
        lines = [*working_session(SESSION_BYTES), record(900_000, "user", text_message("user", asked))]
        path.write_bytes(b"".join(lines).replace(SESSION.encode(), session.encode()))
        self.call("capture", "--harness", "claude-code", "--session", session, "--transcript", str(path))

    def consolidate_session(self) -> Took:
        """`memory consolidate` of one new session."""
        self.capture_session()
        took = self.call("consolidate")
        if b"1 session processed" not in took.stdout:
            raise SystemExit(f"the session was not consolidated: {took.stdout.decode()}")
        return took


def repository(directory: Path) -> Path:
    """A directory with what git keeps in a clone."""
    git = directory / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (git / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        '[remote "origin"]\n\turl = git@github.com:owner/repo.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    )
    return directory
