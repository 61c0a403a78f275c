"""Git around the history: what is recorded later, what a file went through, packing, locks, refs and the remote (P4)."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.config import StorageConfig
from agent_memory.errors import PathRefused, RecorderFailed, StoreIo
from agent_memory.git import git_process
from agent_memory.git.git_history import GitRecorder, revisions_of
from agent_memory.git.git_process import GitProcess, lock_files, pack_history
from agent_memory.results import as_result
from agent_memory.sync.remote import keep_remote
from agent_memory.sync.synchroniser import Commits
from faults import each_failure, failing_on
from stand_ins.temporary import temporary_locks

# -- what git could not record is recorded later, as what it was -------------------------------------------------------


ENVIRON = {"PATH": os.environ["PATH"], "USER": "ana"}


@pytest.fixture
def git(tmp_path: Path) -> GitProcess:
    return GitProcess(tmp_path, ENVIRON)


@pytest.fixture
def unrecorded(tmp_path: Path) -> Path:
    """With a note of each name, all of them not recorded yet."""
    root = tmp_path / "root"
    (root / "topics").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (root / f"topics/{name}.md").write_text(name)
    return root


def recorder(root: Path) -> GitRecorder:
    return GitRecorder(root, StorageConfig(), ENVIRON, temporary_locks())


def broken(root: Path) -> GitRecorder:
    """With no git on its PATH."""
    return GitRecorder(root, StorageConfig(), {"PATH": str(root)}, temporary_locks())


def commits(root: Path) -> list[tuple[str, ...]]:
    """Author, subject, paths; the oldest first."""
    form = "--format=%x01%an%x00%s%x00"
    log = subprocess.run(
        ["git", "-C", str(root), "log", "--reverse", "--name-only", "-z", form], capture_output=True, check=True
    )
    told = (each.replace("\n", "").split("\0") for each in log.stdout.decode().split("\x01")[1:])
    return [tuple(word for word in each if word and word != ".gitignore") for each in told]


def test_what_failed_is_recorded_before_hand_edits_are_adopted(unrecorded: Path) -> None:
    refused = broken(unrecorded).record(["topics/a.md"], "first", "body", "T-1", "amp")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), RecorderFailed)
    assert isinstance(broken(unrecorded).record(["topics/a.md", "topics/b.md"], "second"), Failure)
    assert recorder(unrecorded).adopt_hand_edits(["topics/c.md"]) == Success(1)
    assert commits(unrecorded) == [
        ("agent-memory", "recorded late: 2 files", "topics/a.md", "topics/b.md"),
        ("ana", "hand edits: 1 file", "topics/c.md"),
    ]
    assert not (unrecorded / "runs/owed.json").exists()


def test_a_path_that_can_never_be_recorded_is_not_owed(unrecorded: Path) -> None:
    refused = recorder(unrecorded).record(["../x"], "first")
    assert isinstance(refused, Failure)
    assert isinstance(refused.failure(), PathRefused)
    assert recorder(unrecorded).adopt_hand_edits() == Success(3)
    assert not (unrecorded / "runs/owed.json").exists()


def test_a_damaged_list_of_debts_loses_no_record_to_come(unrecorded: Path) -> None:
    (unrecorded / "runs").mkdir()
    (unrecorded / "runs/owed.json").write_text('["topics/b.md", 7, {')
    assert recorder(unrecorded).adopt_hand_edits(()) == Success(0)
    assert recorder(unrecorded).record(["topics/a.md"], "first") == Success(None)
    assert commits(unrecorded)[-1] == ("agent-memory", "first", "topics/a.md")


def test_debts_that_cannot_be_read_just_now_are_not_forgotten_p6(unrecorded: Path) -> None:
    broken(unrecorded).record(["topics/a.md"], "first")
    unread = Failure(StoreIo(f"{unrecorded}/runs/owed.json", "read", "EIO", "Input/output error"))
    with failing_on("owed.json", "open"):
        assert recorder(unrecorded).adopt_hand_edits() == unread
        assert broken(unrecorded).record(["topics/b.md"], "second") == unread
    assert not (unrecorded / ".git").exists()
    assert recorder(unrecorded).adopt_hand_edits(()) == Success(0)
    assert commits(unrecorded) == [("agent-memory", "recorded late: 1 file", "topics/a.md")]


def test_only_paths_of_the_store_are_owed(unrecorded: Path) -> None:
    (unrecorded / "runs").mkdir()
    (unrecorded / "runs/owed.json").write_text('["../x", 7, {"paths": ["topics/b.md"]}, "topics/a.md"]')
    assert recorder(unrecorded).adopt_hand_edits(()) == Success(0)
    assert commits(unrecorded) == [("agent-memory", "recorded late: 1 file", "topics/a.md")]


# -- the commits that touched a file -----------------------------------------------------------------------------------


NOTE = "topics/ports -- topic__x id__a1b2c3.md"


def written(root: Path, path: str, text: str, subject: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)
    assert recorder(root).record([path], subject) == Success(None)


def subjects(git: GitProcess, path: str, most: int = 9) -> list[str]:
    return [each.subject for each in revisions_of(git, path, most).unwrap()]


def test_through_the_renames_of_the_file(tmp_path: Path, git: GitProcess) -> None:
    text = "The api listens on 8080.\nThe ui listens on 9090.\n"
    written(tmp_path, NOTE, text, "written")
    renamed = "topics/ports of all services -- topic__x id__a1b2c3.md"
    (tmp_path / NOTE).rename(tmp_path / renamed)
    assert recorder(tmp_path).record([NOTE, renamed], "renamed") == Success(None)
    assert subjects(git, renamed) == ["renamed", "written"]


def test_a_note_that_began_as_a_copy_of_another_has_its_own_commits_only(tmp_path: Path, git: GitProcess) -> None:
    text = "".join(f"Line {number} of what both notes say.\n" for number in range(20))
    written(tmp_path, "topics/other -- id__b2c3d4.md", text, "another note")
    (tmp_path / "topics/other -- id__b2c3d4.md").unlink()
    (tmp_path / NOTE).write_text(text + "One more.\n")
    assert recorder(tmp_path).record([NOTE, "topics/other -- id__b2c3d4.md"], "split") == Success(None)
    assert subjects(git, NOTE) == ["split"]


def test_a_repository_that_cannot_be_looked_at_is_not_taken_for_none_p6(tmp_path: Path, git: GitProcess) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    with failing_on("/.git", "lstat"):
        assert revisions_of(git, NOTE, 9) == Failure(
            StoreIo(f"{tmp_path}/.git", "look at", "EIO", "Input/output error")
        )


def test_what_another_program_committed_is_shown_on_one_clean_line_p20(tmp_path: Path, git: GitProcess) -> None:
    written(tmp_path, NOTE, "Ports.\n", "written")
    key = "AKIA" + "IOSFODNN7QQEXMPL"
    (tmp_path / NOTE).write_text("Port 1.\n")
    git.must("-c", "user.name=a\u202eb", "commit", "--quiet", "-a", "-m", f"with {key} \x1b[2J")
    (newest, _) = revisions_of(git, NOTE, 9).unwrap()
    assert key not in newest.subject
    assert newest.subject.isprintable()


# -- packing -----------------------------------------------------------------------------------------------------------


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


def test_p4_many_loose_objects_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _repository(tmp_path)
    monkeypatch.setattr(git_process, "LOOSE_OBJECTS", 100)
    pack_history(tmp_path, ENVIRON).unwrap()
    assert _loose(tmp_path) < 100
    said = subprocess.run(["git", "fsck", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout == "notes\n"


# -- lock files --------------------------------------------------------------------------------------------------------


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
    for _, failing in each_failure(errno.EACCES):
        with failing:
            try:
                found = lock_files(repository / ".git")
            except StoreIo:
                refused += 1
                continue
        assert len(found) == len(LOCKS)
    assert refused >= 3


# -- what a ref leads to -----------------------------------------------------------------------------------------------


def test_a_repository_that_cannot_be_read_is_not_one_without_commits_p6(tmp_path: Path, git: GitProcess) -> None:
    git.init()
    assert Commits(git).named("HEAD") is None
    assert git.run("commit", "--quiet", "--allow-empty", "-m", "first").ok
    assert Commits(git).named("HEAD") is not None
    assert Commits(git).named("MERGE_HEAD") is None
    (tmp_path / ".git" / "HEAD").write_text("nonsense\n")
    with pytest.raises(RecorderFailed):
        Commits(git).named("HEAD")


# -- what git is told of the remote ------------------------------------------------------------------------------------


@pytest.fixture
def attributes(git: GitProcess) -> Path:
    """A person's own."""
    git.init()
    path = git.directory / "info/attributes"
    path.parent.mkdir()
    path.write_text("*.png binary")
    return path


def test_what_a_person_wrote_into_the_attributes_stays(git: GitProcess, attributes: Path) -> None:
    for _ in range(2):
        keep_remote(git, "/srv/memories.git", "main", "/usr/bin/memory")
        lines = attributes.read_text().splitlines()
        assert lines[:2] == ["*.png binary", "topics/*.md merge=agent-memory"]
        assert len(set(lines)) == len(lines)


def test_attributes_that_cannot_be_read_are_not_written_over_p6(git: GitProcess, attributes: Path) -> None:
    for name in ("stat", "open"):
        with failing_on("info/attributes", name):
            kept = as_result(keep_remote)(git, "/srv/memories.git", "main", "/usr/bin/memory")
        if name == "open":
            assert kept == Failure(StoreIo(str(attributes), "write", "EIO", "Input/output error"))
        assert attributes.read_text().startswith("*.png binary\n" if name == "stat" else "*.png binary")
