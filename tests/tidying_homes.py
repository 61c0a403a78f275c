"""A home whose store wants tidying: what a sensible agent says about it, and calls of `memory` that can be killed."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Kind, MemoryEntry, Meta
from agent_memory.note.note_format import render_note
from agent_memory.text.instants import DAY_MS
from memory_process import Done, Memory

SPOKEN_MS = time.time_ns() // 1_000_000 - 10 * DAY_MS
"""Ten days ago: nothing is stale, nothing an orphan for its age."""
CLAUDE, CODEX = ".claude/CLAUDE.md", ".codex/AGENTS.md"

DEPLOYS, DEPLOYING, TWO, OVER, PINNED, WRONG = "deprun", "depday", "twosub", "overed", "keeper", "wrongs"
MINOR = [f"minor{number}" for number in range(1, 10)] + [f"minr{number}x" for number in range(1, 6)]

BODIES = {
    DEPLOYS: "Deploys run from `main` with ./bin/deploy.sh, and never from a branch.\n\nThe api listens on port 9090.",
    DEPLOYING: "Deploys run from `main` with ./bin/deploy.sh.\n\nDo not deploy on Fridays after 15:00, see [[id__deprun]].",
    TWO: "The test database is `lamp_test` on host db-3; it is emptied each night at 02:30.\n\n"
    "The editor config sets `indent_size = 4` for src/**/*.py and never touches vendor/.",
    OVER: "The migration to PNPM_9 is half done: scripts/migrate.mjs still has to run on staging.",
    PINNED: "Never push to `release` without the tag v2.x.",
    WRONG: "Retries are limited to 3 by RETRY_LIMIT in src/net/client.ts.\n\nThe timeout is 30 s.",
    **{
        id: f"Service {id} reads its settings from etc/{id}.toml, and its queue holds {number + 100} jobs."
        for number, id in enumerate(MINOR)
    },
}
"""20 notes, by the six digits of their ids: five of them may change in one run."""

MERGED_BODY = (
    "Deploys run from `main` with ./bin/deploy.sh, and never from a branch.\n\n"
    "The api listens on port 9090.\n\nDo not deploy on Fridays after 15:00."
)


def id_of(name: str) -> str:
    return f"id__{name}"


def sensible_actions() -> list[dict[str, Any]]:
    """One of each kind that takes something away, and an edit: five entries."""
    database, editor = BODIES[TWO].split("\n\n")
    return [
        {
            "action": "merge",
            "ids": [id_of(DEPLOYS), id_of(DEPLOYING)],
            "title": "How deploys run",
            "description": "From where deploys run, and when they do not.",
            "tags": ["topic__deploy"],
            "body": MERGED_BODY,
        },
        {
            "action": "split",
            "id": id_of(TWO),
            "into": [{"title": "The test database", "body": database}, {"title": "The editor config", "body": editor}],
        },
        {"action": "archive", "id": id_of(OVER), "reason": "the migration is done"},
        {"action": "edit", "id": id_of(WRONG), "find": "limited to 3 by", "replace": "limited to 5 by", "drops": ["3"]},
    ]


def sensible(hot: Sequence[str] = (DEPLOYS,), warm: Sequence[str] = (WRONG, MINOR[0], MINOR[1])) -> dict[str, Any]:
    """The whole answer of an agent that knows what it does."""
    return {"actions": sensible_actions(), "tiers": {"hot": [*map(id_of, hot)], "warm": [*map(id_of, warm)]}}


def write_notes(memory: Memory, bodies: Mapping[str, str] = BODIES, **metas: Mapping[str, Any]) -> None:
    """Notes as a person puts them there; `metas` are further facts of their frontmatter by the digits of the id."""
    for number, (name, body) in enumerate(bodies.items()):
        at_ms = SPOKEN_MS + number * 1000
        title = f"About {name}" if name != PINNED else "Release tags"
        facts: dict[str, Any] = {"kind": Kind.LESSON, "tags": ("topic__lamp",), **metas.get(name, {})}
        if name == PINNED:
            facts |= {"pinned": True, "promoted_by": "person"}
        write_note(memory, MemoryEntry(Meta(id_of(name), title, at_ms, at_ms, **facts), body))


def write_note(memory: Memory, entry: MemoryEntry) -> Path:
    """The file of the note."""
    path = memory.root / "topics" / file_name_of(entry.meta)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(render_note(entry))
    return path


def path_of(memory: Memory, name: str) -> Path:
    """The live file of a note."""
    (path,) = (memory.root / "topics").glob(f"*{id_of(name)}.md")
    return path


def answering(memory: Memory, *replies: dict[str, Any], before: str = "", **sections: Any) -> None:
    """Configure an agent command that gives these answers in turn, and two targets. `before`: a shell script that runs
    while the agent thinks."""
    command = memory.answered(*replies)
    configure(memory, shlex.join(["sh", "-c", f"{before}\nexec {command}"]) if before else command, **sections)


def configure(memory: Memory, command: str | None, **sections: Any) -> None:
    """The agent command, or the built-in, and two targets, whose directories are there."""
    for name in (CLAUDE, CODEX):
        (memory.home / name).parent.mkdir(parents=True, exist_ok=True)
    llm = {"command": command, **sections.pop("llm", {})} if command else sections.pop("llm", {})
    targets = [f"~/{CLAUDE}", f"~/{CODEX}"]
    memory.configure(llm=llm, agentsMd={"targets": targets}, **sections)


def tidying_home(home: Path, *replies: dict[str, Any]) -> Memory:
    """A home with the 20 notes, two targets of which one is there, and an agent that answers so."""
    memory = Memory(home)
    home.mkdir(exist_ok=True)
    write_notes(memory)
    answering(memory, *replies)
    (home / CODEX).write_bytes(b"# My rules\r\n\r\nBe brief.\r\n")
    return memory


def defrag(memory: Memory, *words: str) -> dict[str, Any]:
    """The document of a defrag that ended well."""
    done = memory("defrag", "--json", *words)
    assert done.code == 0, done
    document: dict[str, Any] = done.document
    return document


def everything(memory: Memory) -> dict[str, tuple[str, int]]:
    """Hash and time of change of every file of a home but the derived ones, by relative path."""
    return {
        str(path.relative_to(memory.home)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(memory.home.rglob("*"))
        if path.is_file() and not path.is_symlink() and memory.root / ".cache" not in path.parents
    }


def kept(memory: Memory) -> dict[str, bytes]:
    """What `memory undo` restores: topics, archive, the tiers, and the targets, by path relative to the home (P16)."""
    trees = (memory.root / tree for tree in ("topics", "archive", "state"))
    files = [path for tree in trees for path in tree.rglob("*") if path.is_file()]
    notes = [path for path in files if path.suffix == ".md" or path.name == "tiers.json"]
    targets = [path for path in (memory.home / CLAUDE, memory.home / CODEX) if path.exists()]
    return {str(path.relative_to(memory.home)): path.read_bytes() for path in (*notes, *targets)}


KILLER = """
import glob, os
calls = 0
def is_due():
    return len(glob.glob(os.environ["KILL_ONCE"])) >= int(os.environ["COUNT"])
def counted(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        with open(os.environ["CALLS"], "w") as file:
            file.write(str(calls))
        if calls == int(os.environ["KILL_AT"]) or (not int(os.environ["KILL_AT"]) and is_due()):
            FAULT
        return function(*args, **kwargs)
    return call
for name in ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "utime"):
    setattr(os, name, counted(getattr(os, name)))
"""
DEATH = "os.kill(os.getpid(), 9)"
FAILURE = 'raise OSError(int(os.environ["ERRNO"]), os.strerror(int(os.environ["ERRNO"])))'


def struck_at(memory: Memory, number: int, *words: str, errno: int = 0) -> Done:
    """A call that dies at its n-th call that changes the disk, or in which that call fails with an errno; the 0-th is none."""
    return _struck(memory, words, KILL_AT=number or -1, ERRNO=errno)


def killed_once(memory: Memory, pattern: str, *words: str) -> Done:
    """A call that dies as soon as there is one file more that a pattern matches, relative to the root."""
    there = len(list(memory.root.glob(pattern)))
    return _struck(memory, words, KILL_AT=0, KILL_ONCE=memory.root / pattern, COUNT=there + 1)


def _struck(memory: Memory, words: Sequence[str], **told: object) -> Done:
    # By a `sitecustomize`: it is in `memory` alone, since the agent command gets no PYTHONPATH and git is no Python.
    killer = memory.home.with_name(f"{memory.home.name}-killer")
    killer.mkdir(exist_ok=True)
    (killer / "sitecustomize.py").write_text(KILLER.replace("FAULT", FAILURE if told.get("ERRNO") else DEATH))
    known = {name: str(value) for name, value in told.items()}
    return memory(*words, environ={"PYTHONPATH": str(killer), "CALLS": str(killer / "calls"), **known})


def copied(template: Memory, name: str) -> Memory:
    """A copy of a home, beside it."""
    home = template.home.with_name(name)
    shutil.rmtree(home, ignore_errors=True)
    return Memory(Path(shutil.copytree(template.home, home, symlinks=True)), template.environ)


def killed(template: Memory, *words: str, first: int, step: int) -> Iterator[tuple[int, Memory]]:
    """Copies of a home, in each of which the call was killed at another of its calls that change the disk."""
    straight = copied(template, "straight")
    assert struck_at(straight, 0, *words).code == 0
    numbers = range(first, calls_of(straight) + 1, step)
    assert len(numbers) > 2, numbers
    for number in numbers:
        crashed = copied(template, "crashed")
        assert struck_at(crashed, number, *words).code == -signal.SIGKILL, number
        yield number, crashed


def calls_of(memory: Memory) -> int:
    """How many such calls the last one made."""
    return int((memory.home.with_name(f"{memory.home.name}-killer") / "calls").read_text())
