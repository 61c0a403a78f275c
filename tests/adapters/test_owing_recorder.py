"""What git could not record is recorded later, as what it was (P4)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.git.git_history import GitRecorder
from agent_memory.config import StorageConfig
from agent_memory.errors import PathRefused, RecorderFailed, StoreIo
from faults import failing_on
from stand_ins.dict_locks import DictLocks

PATH = os.environ["PATH"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """With a note of each name, all of them not recorded yet."""
    root = tmp_path / "root"
    (root / "topics").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (root / f"topics/{name}.md").write_text(name)
    return root


def recorder(root: Path, path: str = PATH) -> GitRecorder:
    return GitRecorder(root, StorageConfig(), {"PATH": path, "USER": "ana"}, DictLocks())


def broken(root: Path) -> GitRecorder:
    """With no git on its PATH."""
    return recorder(root, str(root))


def commits(root: Path) -> list[tuple[str, ...]]:
    """Author, subject, paths; the oldest first."""
    form = "--format=%x01%an%x00%s%x00"
    log = subprocess.run(
        ["git", "-C", str(root), "log", "--reverse", "--name-only", "-z", form], capture_output=True, check=True
    )
    told = (each.replace("\n", "").split("\0") for each in log.stdout.decode().split("\x01")[1:])
    return [tuple(word for word in each if word and word != ".gitignore") for each in told]


def test_what_failed_is_recorded_before_hand_edits_are_adopted(root: Path) -> None:
    refused = broken(root).record(["topics/a.md"], "first", "body", "T-1", "amp")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), RecorderFailed)
    assert isinstance(broken(root).record(["topics/b.md"], "second"), Failure)
    assert recorder(root).adopt_hand_edits(["topics/c.md"]) == Success(1)
    assert commits(root) == [
        ("agent-memory", "first", "topics/a.md"),
        ("agent-memory", "second", "topics/b.md"),
        ("ana", "hand edits: 1 file", "topics/c.md"),
    ]
    shown = subprocess.run(
        ["git", "-C", str(root), "show", "--no-patch", "--format=%b", "HEAD~2"], capture_output=True, check=True
    )
    assert shown.stdout.decode().split() == ["body", "Thread-Id:", "T-1"]
    assert not (root / "runs/owed.json").exists()


def test_a_debt_stays_until_it_is_paid(root: Path) -> None:
    broken(root).record(["topics/a.md"], "first")
    assert isinstance(broken(root).adopt_hand_edits(), Failure)
    owed = json.loads((root / "runs/owed.json").read_text())
    assert [each["subject"] for each in owed] == ["first"]


def test_a_debt_that_can_never_be_paid_stands_in_nobodys_way(root: Path) -> None:
    refused = recorder(root).record(["../x"], "first")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), PathRefused)
    assert recorder(root).adopt_hand_edits() == Success(3)
    assert not (root / "runs/owed.json").exists()


def test_a_damaged_list_of_debts_loses_no_record_to_come(root: Path) -> None:
    (root / "runs").mkdir()
    (root / "runs/owed.json").write_text('[{"paths": 3, "subject": "odd"}, 7, {')
    assert recorder(root).adopt_hand_edits(()) == Success(0)
    assert recorder(root).record(["topics/a.md"], "first") == Success(None)
    assert commits(root)[-1] == ("agent-memory", "first", "topics/a.md")


def test_debts_that_cannot_be_read_just_now_are_not_forgotten_p6(root: Path) -> None:
    broken(root).record(["topics/a.md"], "first")
    unread = Failure(StoreIo(f"{root}/runs/owed.json", "read", "EIO", "Input/output error"))
    with failing_on("owed.json", "open"):
        assert recorder(root).adopt_hand_edits() == unread
        assert broken(root).record(["topics/b.md"], "second") == unread
    assert not (root / ".git").exists()
    assert recorder(root).adopt_hand_edits(()) == Success(0)
    assert commits(root) == [("agent-memory", "first", "topics/a.md")]
