"""A note knows the branch and the commit at which it was learnt, and says so where that branch is not in main."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_transcripts import Conversation
from memory_process import Memory
from places_of_work import git, repository, told

MARK = "branch fix/lamp, not found in main"
SAID = "Remember: the lamp listens on port 9090."


@pytest.fixture
def lamp(home: Path) -> Path:
    lamp = repository(home / "lamp", "git@github.com:me/lamp")
    git(lamp, "switch", "-q", "-c", "fix/lamp")
    git(lamp, "commit", "-q", "--allow-empty", "-m", "a try")
    return lamp


def learnt(
    memory: Memory, lamp: Path, branch: str = "fix/lamp", text: str = SAID, session: str = "s-1"
) -> dict[str, Any]:
    """The note of a session there, by `read`."""
    conversation = Conversation(session)
    conversation.user(text, cwd=str(lamp), gitBranch=branch)
    conversation.agent("Understood.", cwd=str(lamp), gitBranch=branch)
    directory = memory.home / ".claude" / "projects" / "-lamp"
    directory.mkdir(parents=True, exist_ok=True)
    transcript = conversation.write(directory)
    done = memory(
        *("capture", "--harness", "claude-code", "--session", session, "--transcript", str(transcript)), cwd=lamp
    )
    assert done.code == 0, done
    assert memory("consolidate", cwd=lamp).code == 0
    found = memory("search", "lamp port", "--json", cwd=lamp).document["entries"]
    note: dict[str, Any] = next(each for each in found if each["kind"] != "handoff")
    return note


def section(memory: Memory, lamp: Path) -> str:
    (lamp / ".gitignore").write_text("CLAUDE.local.md\n")
    assert memory("generate-agents-md", "--target", "CLAUDE.local.md", cwd=lamp).code == 0
    return (lamp / "CLAUDE.local.md").read_text()


def test_a_note_from_a_branch_that_is_not_merged_says_so_everywhere(memory: Memory, lamp: Path) -> None:
    note = learnt(memory, lamp)
    (source,) = note["sources"]
    assert (source["branch"], len(source["commit"])) == ("fix/lamp", 40)
    id = note["id"]
    assert note["unmerged"] == MARK
    assert f"\n{MARK}\n" in memory("read", id).out
    assert f"\t{MARK}\n" in memory("search", "lamp port", cwd=lamp).out
    assert f"Not merged: {MARK}." in memory("why", id).out
    assert "on the branch fix/lamp" in memory("why", id).out
    assert MARK in told(memory, lamp)
    assert f"({MARK})" in memory("list").out
    assert memory("pin", id).code == 0
    assert MARK in section(memory, lamp)
    assert memory("generate-agents-md", "--target", "AGENTS.md", cwd=lamp).code == 0
    committed = (lamp / "AGENTS.md").read_text()  # is the same on every machine, whatever is merged there
    assert id in committed
    assert MARK not in committed
    git(lamp, "switch", "-q", "main")
    git(lamp, "merge", "-q", "--no-ff", "fix/lamp")
    assert memory("consolidate").code == 0
    assert MARK not in memory("read", id).out + told(memory, lamp) + section(memory, lamp)


@pytest.mark.parametrize("how", ["deleted", "gone", "elsewhere", "main"])
def test_nothing_is_said_where_git_cannot_tell(memory: Memory, lamp: Path, home: Path, how: str) -> None:
    if how == "deleted":  # as after a squash
        git(lamp, "switch", "-q", "main")
        git(lamp, "branch", "-q", "-D", "fix/lamp")
    if how == "gone":
        git(lamp, "config", "branch.fix/lamp.remote", "origin")
        git(lamp, "config", "branch.fix/lamp.merge", "refs/heads/fix/lamp")
    note = learnt(memory, lamp, "main" if how == "main" else "fix/lamp")
    if how == "elsewhere":
        lamp.rename(home / "moved")
        assert memory("consolidate").code == 0
    assert MARK not in memory("read", note["id"]).out


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"github.com/me/lamp": 3}', b'{"github.com/me/lamp": [null]}', b"\xff"]
)
def test_a_damaged_list_of_branches_marks_nothing(memory: Memory, lamp: Path, content: bytes) -> None:
    id = learnt(memory, lamp)["id"]
    (memory.root / ".cache" / "unmerged.json").write_bytes(content)
    assert memory("read", id).code == 0
    assert MARK not in memory("read", id).out + told(memory, lamp)
