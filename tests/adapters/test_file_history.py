"""The commits that touched a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.git.git_history import GitRecorder, revisions_of
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.config import StorageConfig
from agent_memory.errors import StoreIo
from faults import failing_on
from stand_ins.dict_locks import DictLocks

NOTE = "topics/ports -- topic__x id__a1b2c3.md"


@pytest.fixture
def git(tmp_path: Path) -> GitProcess:
    return GitProcess(tmp_path, {"PATH": os.environ["PATH"]})


def written(root: Path, path: str, text: str, subject: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)
    recorder = GitRecorder(root, StorageConfig(), {"PATH": os.environ["PATH"], "HOME": str(root)}, DictLocks())
    assert recorder.record([path], subject) == Success(None)


def subjects(git: GitProcess, path: str, most: int = 9) -> list[str]:
    return [each.subject for each in revisions_of(git, path, most).unwrap()]


def test_newest_first_and_no_more_than_asked_for(tmp_path: Path, git: GitProcess) -> None:
    for number in range(3):
        written(tmp_path, NOTE, f"Port {number}.\n", f"change {number}")
    written(tmp_path, "topics/other -- id__b2c3d4.md", "Other.\n", "another note")
    assert subjects(git, NOTE) == ["change 2", "change 1", "change 0"]
    assert subjects(git, NOTE, 2) == ["change 2", "change 1"]
    (newest, *_) = revisions_of(git, NOTE, 1).unwrap()
    assert newest.author == "agent-memory"
    assert newest.at.startswith("20")
    assert newest.commit


def test_through_the_renames_of_the_file(tmp_path: Path, git: GitProcess) -> None:
    text = "The api listens on 8080.\nThe ui listens on 9090.\n"
    written(tmp_path, NOTE, text, "written")
    renamed = "topics/ports of all services -- topic__x id__a1b2c3.md"
    (tmp_path / NOTE).rename(tmp_path / renamed)
    recorder = GitRecorder(tmp_path, StorageConfig(), {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, DictLocks())
    assert recorder.record([NOTE, renamed], "renamed") == Success(None)
    assert subjects(git, renamed) == ["renamed", "written"]


def test_a_note_that_began_as_a_copy_of_another_has_its_own_commits_only(tmp_path: Path, git: GitProcess) -> None:
    text = "".join(f"Line {number} of what both notes say.\n" for number in range(20))
    written(tmp_path, "topics/other -- id__b2c3d4.md", text, "another note")
    (tmp_path / "topics/other -- id__b2c3d4.md").unlink()
    recorder = GitRecorder(tmp_path, StorageConfig(), {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, DictLocks())
    (tmp_path / NOTE).write_text(text + "One more.\n")
    assert recorder.record([NOTE, "topics/other -- id__b2c3d4.md"], "split") == Success(None)
    assert subjects(git, NOTE) == ["split"]


def test_without_a_repository_there_are_none(git: GitProcess) -> None:
    assert revisions_of(git, NOTE, 9) == Success(())


def test_a_repository_that_cannot_be_looked_at_is_not_taken_for_none_p6(tmp_path: Path, git: GitProcess) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    with failing_on("/.git", "lstat"):
        assert revisions_of(git, NOTE, 9) == Failure(
            StoreIo(f"{tmp_path}/.git", "look at", "EIO", "Input/output error")
        )


def test_of_a_file_that_git_does_not_know_there_are_none(tmp_path: Path, git: GitProcess) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    assert subjects(git, "topics/none -- id__zzzzzz.md") == []


def test_a_damaged_repository_has_none(tmp_path: Path, git: GitProcess) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    (tmp_path / ".git" / "HEAD").write_text("nonsense\n")
    assert subjects(git, NOTE) == []


def test_what_another_program_committed_is_shown_on_one_clean_line_without_secrets_p20(
    tmp_path: Path, git: GitProcess
) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    key = "AKIA" + "IOSFODNN7QQEXMPL"
    (tmp_path / NOTE).write_text("Port 1.\n")
    git.must("-c", "user.name=a\u202eb", "commit", "--quiet", "-a", "-m", f"with {key} \x1b[2J")
    (newest, _) = revisions_of(git, NOTE, 9).unwrap()
    assert key not in newest.subject
    assert newest.subject.isprintable()
