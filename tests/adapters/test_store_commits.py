"""What a ref of the store leads to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.syncing.synchroniser import Commits
from agent_memory.errors import RecorderFailed


def test_a_repository_that_cannot_be_read_is_not_one_without_commits_p6(tmp_path: Path) -> None:
    git = GitProcess(tmp_path, {"PATH": os.environ["PATH"]})
    git.init()
    assert Commits(git).named("HEAD") is None
    assert git.run("commit", "--quiet", "--allow-empty", "-m", "first").ok
    assert Commits(git).named("HEAD") is not None
    assert Commits(git).named("MERGE_HEAD") is None
    (tmp_path / ".git" / "HEAD").write_text("nonsense\n")
    with pytest.raises(RecorderFailed):
        Commits(git).named("HEAD")
