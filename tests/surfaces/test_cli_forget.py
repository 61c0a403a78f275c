"""`memory forget` as a process (P28)."""

from __future__ import annotations

import gzip
import json
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_transcripts import Conversation
from memory_process import Memory

SESSION = "aaaaaaaa-1111-4222-8333-444444444444"
OTHER = "bbbbbbbb-1111-4222-8333-444444444444"
SECRET_WORD = "zanzibarquux"
"""Nothing else in the store holds it."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A home in which two sessions were consolidated, one run each, with a managed section."""
    memory = Memory(tmp_path / "home")
    memory.home.mkdir()
    memory.configure(agentsMd={"targets": [str(memory.home / "AGENTS.md")]})
    talk(memory, SESSION, f"Remember that the {SECRET_WORD} deploys run from the release branch only.")
    assert memory("consolidate").code == 0
    talk(memory, OTHER, "Remember that ruff runs before every commit in this project.")
    assert memory("consolidate").code == 0
    return memory


def talk(memory: Memory, session: str, *said: str) -> None:
    conversation = Conversation(session)
    for text in said:
        conversation.user(text)
        conversation.agent("Understood.")
    memory.session(session, b"\n".join(conversation.lines) + b"\n")


def holders(root: Path, word: str) -> list[str]:
    """Everything below the root that holds the word in its name or in what it says: git's objects unpacked, kept histories
    unpacked, and base64 in JSON decoded."""
    return sorted({path for path, data in _texts(root) if word.encode() in data or word in path})


def _texts(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield name, data
        if name.endswith(".gz"):
            yield name, gzip.decompress(data)
        elif "/objects/" in name and len(path.name) == 38:
            yield name, zlib.decompress(data)
        elif path.name.startswith("footprint-"):
            for change in json.loads(data)["files"]:
                for state in (change["before"], change["after"]):
                    yield name, b"" if state is None else __import__("base64").b64decode(state["data"])
    for directory in sorted(root.glob("*.git")) + sorted(root.glob(".git*")):
        if directory.is_dir():
            listed = subprocess.run(
                ["git", "--git-dir", str(directory), "cat-file", "--batch-all-objects", "--batch", "--unordered"],
                capture_output=True,
                check=True,
            )
            yield f"{directory.name} objects", listed.stdout


def test_a_session_is_forgotten_with_all_that_came_from_it_alone_p28(memory: Memory) -> None:
    before = holders(memory.root, SECRET_WORD)
    assert any(path.startswith("topics/") for path in before)  # positive control
    assert any(path.startswith("runs/") for path in before)
    assert ".git objects" in before

    dry = memory("forget", "--session", SESSION, "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert SECRET_WORD in dry.out
    assert holders(memory.root, SECRET_WORD) == before

    done = memory("forget", "--session", SESSION, "--yes")
    assert (done.code, done.err) == (0, "")
    assert "The git history of the store still holds it" in done.out
    left = holders(memory.root, SECRET_WORD)
    assert {path.partition("/")[0] for path in left} <= {".git", ".git objects"}, left
    assert ".git objects" in left
    assert len(memory.notes()) == 1
    assert memory.log("%s")[0] == "forget: a session"


def test_a_purge_leaves_nothing_of_it_anywhere_p28(memory: Memory) -> None:
    assert ".git objects" in holders(memory.root, SECRET_WORD)  # positive control
    commits = len(memory.log())
    kept = memory.notes()
    done = memory("forget", "--session", SESSION, "--purge", "--yes")
    assert (done.code, done.err) == (0, "")
    assert holders(memory.root, SECRET_WORD) == []
    assert [path for path in holders(memory.root, SESSION) if not path.startswith(("state/forgotten/", ".git"))] == []
    assert len(memory.log()) == commits + 1  # no commit is lost
    assert SESSION not in memory.git("log", "--format=%B%n%(trailers)")
    assert OTHER in memory.git("log", "--format=%B")
    assert [each["id"] for each in memory.notes()] == [each["id"] for each in kept if SECRET_WORD not in each["body"]]
    assert (memory.root / "state/purge.json").exists()
    assert not (memory.root / "runs/purge").exists()
    assert not (memory.root / "runs/forgetting.json").exists()
    assert memory("doctor").code in (0, 1)
