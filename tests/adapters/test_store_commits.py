"""What a ref of the store leads to."""

from __future__ import annotations

import os
from pathlib import Path

from returns.result import Success

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.errors import RecorderFailed


def test_a_repository_that_cannot_be_read_is_not_one_without_commits_p6(tmp_path: Path) -> None:
    git = GitProcess(tmp_path, {"PATH": os.environ["PATH"]})
    assert git.init().unwrap().ok
    assert Commits(git).named("HEAD") == Success(None)
    assert git.run("commit", "--quiet", "--allow-empty", "-m", "first").unwrap().ok
    assert isinstance(Commits(git).named("HEAD"), Success)
    assert Commits(git).named("MERGE_HEAD") == Success(None)
    (tmp_path / ".git" / "HEAD").write_text("nonsense\n")
    assert isinstance(Commits(git).named("HEAD").failure(), RecorderFailed)
