"""Lock files of a repository: found wherever they are, and never taken for none where they cannot be looked for."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agent_memory.adapters.doctor.doctor import check_repository
from agent_memory.adapters.git.git_process import GitProcess, lock_files
from agent_memory.errors import StoreIo
from faults import failing_at

ENVIRON = {"PATH": os.environ["PATH"]}
LOCKS = ("index.lock", "refs/heads/main.lock", "objects/info/commit-graph.lock")


@pytest.fixture
def repository(root: Path) -> Path:
    root.mkdir()
    assert GitProcess(root, ENVIRON).run("init", "-q").ok
    for name in LOCKS:
        (root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".git" / name).touch()
    (root / ".git" / "hooks" / "no.lock").touch()
    return root


def test_every_lock_that_git_makes_is_found_and_nothing_else(repository: Path) -> None:
    assert lock_files(repository / ".git") == tuple(repository / ".git" / name for name in LOCKS)
    assert lock_files(repository / "none") == ()


def test_directories_that_cannot_be_listed_are_not_free_of_locks_p6(repository: Path) -> None:
    refused = 0
    for k in range(1, 100):
        with failing_at(k, errno.EACCES, once=True) as counter:
            try:
                found = lock_files(repository / ".git")
            except StoreIo:
                refused += 1
                continue
        assert len(found) == len(LOCKS)
        if not counter.struck:
            break
    assert refused >= 3


def test_an_examination_tells_of_it_and_goes_on_p6(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LOCKS:
        os.utime(repository / ".git" / name, (0, 0))

    def codes() -> list[str]:
        return [each.code for each in check_repository(repository, ENVIRON, has_notes=True)]

    assert codes() == ["git-locked"] * len(LOCKS)

    def no_lock_is_seen(root: Path, git_directory: Path) -> tuple[Path, ...]:
        raise PermissionError(errno.EACCES, "Permission denied", str(git_directory))

    monkeypatch.setattr("agent_memory.adapters.doctor.doctor.stale_locks", no_lock_is_seen)
    assert codes() == ["git-unusable"]
