"""Packing the history of a store (P4)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_memory.adapters.git import git_process
from agent_memory.adapters.git.git_process import pack_history

ENVIRON = {"PATH": os.environ["PATH"]}


def test_a_store_without_a_repository_is_left_without_one(tmp_path: Path) -> None:
    pack_history(tmp_path, ENVIRON).unwrap()
    assert not any(tmp_path.iterdir())


def _loose(root: Path) -> int:
    counted = subprocess.run(["git", "count-objects"], cwd=root, capture_output=True, text=True, check=True)
    return int(counted.stdout.split()[0])


def _repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for number in range(600):
        (root / f"{number}.md").write_text(f"note {number}\n")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "commit", "-q", "-m", "notes"], cwd=root, check=True)


def test_few_loose_objects_stay_loose(tmp_path: Path) -> None:
    _repository(tmp_path)
    before = _loose(tmp_path)
    pack_history(tmp_path, ENVIRON).unwrap()
    assert _loose(tmp_path) == before > 0


def test_large_loose_objects_are_packed_though_they_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _repository(tmp_path)
    monkeypatch.setattr(git_process, "LOOSE_KIB", 100)
    pack_history(tmp_path, ENVIRON).unwrap()
    assert _loose(tmp_path) == 0


def test_p4_many_loose_objects_are_packed_and_the_history_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _repository(tmp_path)
    monkeypatch.setattr(git_process, "LOOSE_OBJECTS", 100)
    pack_history(tmp_path, ENVIRON).unwrap()
    assert _loose(tmp_path) < 100
    said = subprocess.run(["git", "fsck", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout == "notes\n"
