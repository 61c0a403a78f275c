"""What git is told of the store's remote."""

from __future__ import annotations

import os
from pathlib import Path

from returns.result import Failure

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.syncing.remote import keep_remote
from agent_memory.errors import StoreIo
from agent_memory.results import as_result
from faults import failing_on


def begun(root: Path) -> GitProcess:
    git = GitProcess(root, {"PATH": os.environ["PATH"]})
    git.init()
    return git


def test_what_a_person_wrote_into_the_attributes_stays(tmp_path: Path) -> None:
    git = begun(tmp_path)
    attributes = tmp_path / ".git/info/attributes"
    attributes.parent.mkdir()
    attributes.write_text("*.png binary")
    for _ in range(2):
        keep_remote(git, "/srv/memories.git", "main", "/usr/bin/memory")
        lines = attributes.read_text().splitlines()
        assert lines[:2] == ["*.png binary", "topics/*.md merge=agent-memory"]
        assert len(set(lines)) == len(lines)


def test_attributes_that_cannot_be_read_are_not_written_over_p6(tmp_path: Path) -> None:
    git = begun(tmp_path)
    attributes = tmp_path / ".git/info/attributes"
    attributes.parent.mkdir()
    attributes.write_text("*.png binary")
    for name in ("stat", "open"):
        with failing_on("info/attributes", name):
            kept = as_result(keep_remote)(git, "/srv/memories.git", "main", "/usr/bin/memory")
        if name == "open":
            assert kept == Failure(StoreIo(str(attributes), "write", "EIO", "Input/output error"))
        assert attributes.read_text().startswith("*.png binary\n" if name == "stat" else "*.png binary")
