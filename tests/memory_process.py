"""Running `memory` as its users do: a process, with a home of its own."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import field, frozen

from forked_program import RunningCall, run_program, start_program

PROGRAM = [sys.executable, "-P", "-c", "import sys; from agent_memory.cli.entry import main; sys.exit(main())"]
ANSWERS = Path(__file__).parent / "fixtures" / "agents" / "answers.py"
LIMIT_SECONDS = 120
TREES = ("topics", "archive")
NOTHING: Mapping[str, str] = {}


@frozen
class Done:
    """How a call ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one document of a `--json` call."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error of a `--json` call that failed."""
        document = json.loads(self.err)
        assert list(document) == ["error"]
        error: dict[str, Any] = document["error"]
        assert list(error) == ["code", "message", "details"]
        return error


@frozen
class Memory:
    """`memory` in one home, with its root at `home/memories` unless a test says otherwise."""

    home: Path
    environ: Mapping[str, str] = field(factory=dict)
    is_recorded: bool = True

    @classmethod
    def unrecorded(cls, home: Path, environ: Mapping[str, str] = NOTHING) -> Memory:
        """One without git, for what is about notes and not about their history: git is half of what a write takes."""
        memory = cls(home, environ, is_recorded=False)
        memory.configure()
        return memory

    @property
    def root(self) -> Path:
        return self.home / "memories"

    def __call__(
        self, *words: str | bytes, data: bytes = b"", cwd: Path | None = None, environ: Mapping[str, str] = NOTHING
    ) -> Done:
        """One call to its end; a value of "" in `environ` takes the variable away."""
        finished = run_program(words, data, cwd or self.home, self.environment(environ), LIMIT_SECONDS)
        return Done(finished.returncode, finished.stdout.decode(), finished.stderr.decode())

    def start(self, *words: str, environ: Mapping[str, str] = NOTHING, has_stdin: bool = False) -> RunningCall:
        """A call that goes on beside the test."""
        return start_program(words, self.home, self.environment(environ), has_stdin=has_stdin)

    def environment(self, environ: Mapping[str, str] = NOTHING) -> dict[str, str]:
        ours = {"HOME": str(self.home), "AGENT_MEMORY_ROOT": str(self.root), **self.environ, **environ}
        return {name: value for name, value in {**os.environ, **ours}.items() if value}

    # -- what a test sets up ------------------------------------------------------------------------------------------

    def configure(self, **sections: object) -> None:
        """Write the person's config."""
        if not self.is_recorded:
            sections = {"storage": {"autoCommit": False}, **sections}
        path = self.home / ".config" / "agent-memory" / "config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(sections))

    def remembered(self, text: str, *words: str) -> str:
        """The id of a new note."""
        done = self("remember", text, "--json", *words)
        assert (done.code, done.err) == (0, ""), done
        id: str = done.document["id"]
        return id

    def captured(self, title: str, body: str) -> str:
        """The name of a new inbox entry with a note."""
        done = self("capture", "--title", title, "--body", body, "--json")
        assert (done.code, done.err) == (0, ""), done
        name: str = done.document["captured"]
        return name

    def work_tree(self, name: str = "lamp") -> Path:
        """A directory of the home that is a work tree of github.com/ada/NAME."""
        project = self.home / name
        (project / ".git").mkdir(parents=True)
        (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (project / ".git/config").write_text(f'[remote "origin"]\n\turl = git@github.com:ada/{name}.git\n')
        return project

    def answered(self, *replies: Mapping[str, object]) -> str:
        """The command of an agent that gives these replies in turn, and keeps its prompts in `agent` of the home.

        It is relative to the directory in which agent commands run, and so the same in every home."""
        agent = self.home / "agent"
        shutil.rmtree(agent, ignore_errors=True)
        agent.mkdir()
        for number, reply in enumerate(replies, 1):
            (agent / f"{number}.json").write_text(json.dumps(reply))
        return shlex.join([sys.executable, str(ANSWERS), "../../../../agent"])

    def session(self, session_id: str, transcript: str | bytes) -> Path:
        """A Claude Code session whose transcript is where the harness keeps it, captured; the transcript."""
        path = self.home / ".claude" / "projects" / "lamp" / f"{session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(transcript if isinstance(transcript, bytes) else transcript.encode())
        self.capture_session(session_id, path)
        return path

    def capture_session(self, session_id: str, path: Path) -> None:
        done = self("capture", "--harness", "claude-code", "--session", session_id, "--transcript", str(path))
        assert done.code == 0, done
        assert not done.err or "was not read: " in done.err, done

    # -- what a test looks at -----------------------------------------------------------------------------------------

    def prompts(self) -> list[str]:
        """What the agent of `answered` was asked, in turn."""
        paths = sorted((self.home / "agent").glob("prompt-*.txt"), key=lambda path: int(path.stem.split("-")[1]))
        return [path.read_text() for path in paths]

    def pending(self) -> list[str]:
        """The names of the entries that wait."""
        inbox = self.root / "inbox"
        return sorted(each.name for each in inbox.glob("[!.]*.json")) if inbox.exists() else []

    def notes(self) -> list[dict[str, Any]]:
        """Every live entry, newest first, with its body."""
        listed = self("list", "--json").document["entries"]
        return [{**each, "body": _body_of(self.root / each["path"])} for each in listed]

    def titles(self) -> list[str]:
        return sorted(each["title"] for each in self("list", "--json").document["entries"])

    def snapshot(self) -> dict[str, str]:
        """A hash of every file in `topics/` and `archive/`, by relative path."""
        files = (each for tree in TREES for each in (self.root / tree).rglob("*") if each.is_file())
        return {str(each.relative_to(self.root)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}

    def log(self, form: str = "%an: %s") -> list[str]:
        """One line a commit, newest first; asserts that git finds nothing wrong, and nothing left to commit but our
        own bookkeeping, which rides along with the next commit."""
        assert self.git("fsck", "--no-progress") == ""
        assert self.git("status", "--porcelain", "--", ":!usage", ":!state") == ""
        return self.git("log", f"--format={form}").splitlines()

    def git(self, *words: str) -> str:
        finished = subprocess.run(["git", "-C", str(self.root), *words], capture_output=True, text=True, check=True)
        return finished.stdout


def on_a_terminal(memory: Memory, *words: str, answer: str = "", **environ: str) -> str:
    """What a person sees of a call, in the order in which it is printed; with `answer` they type that, and a line end."""
    typed = f"{answer}\n" if answer else ""
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *words],
        env=memory.environment({"TERM": "xterm", "COLUMNS": "400", **environ}),
        stdin=inner,
        stdout=inner,
        stderr=inner,
        cwd=memory.home,
    ):
        os.close(inner)
        os.write(outer, typed.encode())
        seen = b""
        with suppress(OSError):  # nobody writes to it any more
            while data := os.read(outer, 1 << 16):
                seen += data
    os.close(outer)
    return seen.decode().replace("\r\n", "\n").removeprefix(typed)


def _body_of(path: Path) -> str:
    return path.read_text().split("\n---\n", 1)[-1].strip("\n")
