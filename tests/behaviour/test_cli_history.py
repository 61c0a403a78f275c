"""P4: git is history, not durability. What is lost, locked, broken or missing there loses no note."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from memory_process import Memory

NOTE = "Deploys run from main only, and never from a branch."
OTHER = "The api listens on 8080."


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def test_a_lost_repository_is_made_anew_with_everything_in_it(memory: Memory) -> None:
    memory.remembered(NOTE)
    shutil.rmtree(memory.root / ".git")
    assert memory("list").code == 0
    memory.remembered(OTHER)
    assert len(memory.titles()) == 2
    assert memory("consolidate").code == 0
    assert len(memory.git("ls-files", "topics").splitlines()) == 2
    memory.log()


@pytest.mark.parametrize("broken", ["HEAD", "objects", "index"])
def test_a_broken_repository_loses_no_note_and_is_said(memory: Memory, broken: str) -> None:
    memory.remembered(NOTE)
    path = memory.root / ".git" / broken
    shutil.rmtree(path) if path.is_dir() else path.write_bytes(b"garbage\x00" * 40)
    done = memory("remember", OTHER)
    assert done.code == 0
    assert "Traceback" not in done.err
    aside = [path.name for path in memory.root.iterdir() if path.name.startswith(".git.broken-")]
    assert all(f"It was moved to {memory.root / name}" in done.err for name in aside)
    assert bool(aside) == (broken != "index"), done.err
    assert memory("consolidate").code == 0
    assert len(memory.titles()) == 2
    assert len(memory.git("ls-files", "topics").splitlines()) == 2, done.err


def test_a_stale_lock_blocks_nothing(memory: Memory) -> None:
    memory.remembered(NOTE)
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        lock = memory.root / ".git" / name
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        subprocess.run(["touch", "-d", "2 hours ago", lock], check=True)
    done = memory("remember", OTHER)
    assert (done.code, done.err) == (0, "")
    assert len(memory.log()) == 2


def test_without_git_everything_else_works_and_the_next_run_records_it(memory: Memory, tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path)}
    done = memory("remember", NOTE, environ=nothing)
    assert done.code == 0
    assert done.err.startswith("memory: ")
    assert done.err.count("\n") == 1
    assert memory("status", environ=nothing).code == 1
    assert "git has not recorded " in memory("status").out
    assert memory("consolidate").code == 0
    assert memory("status").code == 0
    assert memory.log() == ["agent-memory: recorded late: 2 files"]


def test_hand_edits_are_recorded_as_the_persons(memory: Memory) -> None:
    memory.remembered(NOTE)
    subprocess.run(["git", "config", "--file", memory.home / ".gitconfig", "user.name", "Ada"], check=True)
    subprocess.run(["git", "config", "--file", memory.home / ".gitconfig", "user.email", "ada@example.com"], check=True)
    (path,) = (memory.root / "topics").iterdir()
    path.write_text(path.read_text().replace("branch", "tag"))
    (memory.root / "topics" / "mine.md").write_text("# Mine\n\nBy hand.\n")
    memory.captured("Ports", OTHER)
    assert memory("consolidate").code == 0
    authors = [line.partition(": ")[0] for line in memory.log()]
    assert authors == ["agent-memory", "Ada", "agent-memory"]
    touched = memory.git("show", "--name-only", "--format=", "HEAD~1").splitlines()
    assert len(touched) == 2
    assert memory.titles() == [NOTE.replace("branch", "tag"), "Mine", "Ports"]


def test_a_hand_edit_with_a_secret_stays_out_of_the_history_and_is_said_p20(memory: Memory) -> None:
    memory.remembered(NOTE)
    token = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
    (memory.root / "topics" / "mine.md").write_text(f"# Mine\n\nThe token is {token}.\n")
    done = memory("consolidate")
    assert done.code == 0
    assert "topics/mine.md was left out of the history: it seems to hold a secret." in done.err
    assert token not in memory.git("log", "-p")


def test_the_history_can_be_switched_off(memory: Memory) -> None:
    memory.configure(storage={"autoCommit": False})
    memory.remembered(NOTE)
    memory.captured("Ports", OTHER)
    assert memory("consolidate").code == 0
    assert len(memory.titles()) == 2
    assert not (memory.root / ".git").exists()
    assert memory("status").code == 0
    memory.configure()
    memory.remembered("Tabs are preferred to spaces.")
    assert memory("consolidate").code == 0
    assert len(memory.git("ls-files", "topics").splitlines()) == 3


def test_the_callers_git_is_not_ours(memory: Memory, tmp_path: Path) -> None:
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", project], check=True)
    config = memory.home / ".gitconfig"
    config.write_text(
        "[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n\tautocrlf = true\n"
        "[gpg]\n\tprogram = /bin/false\n[alias]\n\tcommit = !false\n"
    )
    environ = {"GIT_DIR": str(project / ".git"), "GIT_WORK_TREE": str(project), "GIT_INDEX_FILE": "/nowhere/index"}
    done = memory("remember", NOTE, environ=environ)
    assert (done.code, done.err) == (0, "")
    assert len(memory.log()) == 1
    outer = subprocess.run(["git", "-C", project, "status", "--porcelain"], capture_output=True, check=True)
    assert outer.stdout == b""


def test_notes_are_shown_as_they_were_and_what_changed_since(memory: Memory) -> None:
    kept, secret = memory.remembered(NOTE), memory.remembered(OTHER)
    assert memory("edit", secret, "--sensitivity", "secret").code == 0
    commit = memory.git("rev-parse", "HEAD").strip()
    assert memory("edit", kept, "--body", "Deploys run at night.\x1b[2J").code == 0
    later = memory.remembered("Grafana keeps thirty days.")
    assert [each["id"] for each in memory("show", "--at", commit[:7], "--json").document["entries"]] == [kept]
    assert memory("show", kept, "--at", commit).out.endswith(f"{NOTE}\n")
    before = memory("show", "--at", "2020-01-01", "--json")
    assert (before.document, before.err) == ({"commit": None, "entries": []}, "memory: There were no notes then.\n")
    for asked in (("show", "--at", "fffffff"), ("diff", "--since", "soon")):
        assert memory(*asked).code == 2
    assert "it was not live, or is secret" in memory("show", secret, "--at", commit).err
    assert memory("archive", later).code == 0
    assert f"# moved to the archive {later}" in memory("diff", "--since", commit).out
    assert memory("restore", later).code == 0

    changed = memory("diff", "--since", commit, "--json").document
    assert {kept: "replace", later: "create"}.items() <= {
        each["subject"]: each["act"] for each in changed["changes"]
    }.items()
    assert "-Deploys run from main only" in memory("diff", "--since", commit).out
    assert OTHER not in memory("diff", "--since", "1d").out
    assert memory("diff", "--since", "1d", environ={"CLAUDE_CODE_CHILD_SESSION": "1"}).code != 0
    shutil.rmtree(memory.root / ".git")
    assert memory("diff", "--since", "1d").code == 2


def test_what_is_forgotten_or_secret_by_now_does_not_come_back_from_the_history(memory: Memory) -> None:
    """P28, though git still holds it until it is purged; nor does it under the id of a note that it was merged from."""
    kept, gone, hidden = memory.remembered(NOTE), memory.remembered(OTHER), memory.remembered("The moat is deep.")
    merged = memory.remembered(f"{OTHER} It restarts at night.", "--supersedes", gone)
    elsewhere = memory.remembered(OTHER, "--scope", "github.com/ada/lamp")
    commit = memory.git("rev-parse", "HEAD~2").strip()
    before = memory("show", "--at", commit, "--json").document["entries"]
    assert {each["id"] for each in before} == {kept, gone, hidden}
    assert "+The moat is deep" in memory("diff", "--since", "2020-01-01").out
    assert memory("edit", hidden, "--sensitivity", "secret").code == 0
    for id in (merged, gone):
        assert memory("forget", id, "--yes").code == 0
    assert [each["id"] for each in memory("show", "--at", commit, "--json").document["entries"]] == [kept]
    assert memory("show", gone, "--at", commit).code == 2
    assert memory("show", elsewhere, "--at", "HEAD").code == 2, "not a commit's id"
    head = memory.git("rev-parse", "HEAD").strip()
    assert {each["id"] for each in memory("show", "--at", head, "--json").document["entries"]} == {kept, elsewhere}
    for since in ("2020-01-01", commit):
        shown = memory("diff", "--since", since, "--json").document["changes"]
        assert not {merged, gone} & {each["subject"] for each in shown}
        assert "moat" not in str(shown)
    assert "8080" in memory.git("log", "-p"), "it would have come from there"
