"""P4: a commit made of the index is the one that `git commit` makes, and takes along nothing of anybody else's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.git.git_recorder import GitRecorder
from agent_memory.config import StorageConfig
from faults import failing_on

_WITH_AUTHOR = StorageConfig(commit_hook="git commit --trailer 'Thread-Id: {threadId}' --author 'Ana <ana@acme.io>'")
_BODY = "+ id__a1b2c3 a note\n\n\n\nThread-Id: forged\n+ id__d4e5f6  another \n"


def git(directory: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.io")
    asked = subprocess.run(["git", *identity, *arguments], cwd=directory, env=environ, capture_output=True, check=False)
    assert asked.returncode == 0, asked.stderr.decode()
    return asked.stdout.decode()


def write(store: Path, path: str, text: str = "text") -> None:
    whole = store / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(text.encode())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def _recorder(store: Path, config: StorageConfig | None = None) -> GitRecorder:
    return GitRecorder(store, config or StorageConfig(), {"PATH": os.environ["PATH"], "USER": "ana"})


def _commits(store: Path) -> list[str]:
    return git(store, "log", "--format=%T %an %ae %cn %ce%n%B").split("\0")


def _record_some(store: Path) -> None:
    write(store, "topics/a.md", "a note")
    assert _recorder(store).record(["topics/a.md"], "write: a") == Success(None)
    write(store, "topics/a.md", "a longer note")
    write(store, "topics/b.md", "another note")
    assert _recorder(store).record(["topics/a.md", "topics/b.md"], "two", _BODY, "T-1") == Success(None)
    (store / "topics/a.md").unlink()
    assert _recorder(store).record(["topics/a.md"], "remove: a", thread_id="T-2") == Success(None)


def _with_gits_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_memory.adapters.git.git_commits.trailers_alone", lambda _: None)


def test_commits_made_of_the_index_are_those_that_git_commit_makes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _record_some(store)
    with monkeypatch.context() as patched:
        _with_gits_own(patched)
        _record_some(tmp_path / "other")
    assert _commits(store) == _commits(tmp_path / "other")
    assert git(store, "log", "--format=%(trailers:key=Thread-Id,valueonly,separator=%x2C)").split() == ["T-2", "T-1"]


def test_a_line_of_dashes_in_a_note_hides_no_trailer(store: Path) -> None:
    write(store, "topics/a.md")
    assert _recorder(store).record(["topics/a.md"], "x", "y\n---\nz", "T-1") == Success(None)
    assert git(store, "log", "--format=%B").rstrip() == "x\n\ny\n---\nz\n\nThread-Id: T-1"


def test_after_each_the_repository_is_whole_and_nothing_is_left_to_commit(store: Path) -> None:
    _record_some(store)
    assert git(store, "fsck", "--full", "--strict") == ""
    assert git(store, "status", "--porcelain") == ""
    assert git(store, "reflog", "--format=%gs").splitlines() == [
        "commit: remove: a",
        "commit: two",
        "commit (initial): write: a",
    ]


def test_a_template_with_an_author_is_for_git_commit_itself(store: Path) -> None:
    write(store, "topics/a.md")
    assert _recorder(store, _WITH_AUTHOR).record(["topics/a.md"], "x", thread_id="T-1") == Success(None)
    assert git(store, "log", "--format=%an %(trailers:key=Thread-Id,valueonly)").split() == ["Ana", "T-1"]


def _begin_a_merge(store: Path) -> None:
    """By hand, beside a note that is not recorded yet."""
    write(store, "topics/a.md", "a note")
    assert _recorder(store).record(["topics/a.md"], "write: a") == Success(None)
    git(store, "checkout", "--quiet", "-b", "other")
    write(store, "topics/b.md", "another note")
    assert _recorder(store).record(["topics/b.md"], "write: b") == Success(None)
    git(store, "checkout", "--quiet", "main")
    git(store, "merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "other")
    write(store, "topics/c.md", "a third")


def test_a_merge_that_a_person_is_at_is_not_ended_by_a_note(store: Path) -> None:
    _begin_a_merge(store)
    assert isinstance(_recorder(store).record(["topics/c.md"], "write: c"), Failure)
    assert (store / ".git/MERGE_HEAD").exists()
    git(store, "commit", "--quiet", "-m", "merged")
    assert git(store, "log", "-1", "--format=%p").count(" ") == 1


def test_nor_where_nobody_can_tell_whether_there_is_one_p6(store: Path) -> None:
    _begin_a_merge(store)
    with failing_on("MERGE_HEAD", "lstat") as counter:
        assert isinstance(_recorder(store).record(["topics/c.md"], "write: c"), Failure)
    assert counter.struck
    assert (store / ".git/MERGE_HEAD").exists()


def test_a_lost_object_of_another_note_hinders_no_record(store: Path) -> None:
    _record_some(store)
    lost = git(store, "rev-parse", "HEAD:topics/b.md").strip()
    (store / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    write(store, "topics/c.md", "a third")
    assert _recorder(store).record(["topics/c.md"], "write: c") == Success(None)
    assert git(store, "show", "--format=", "--name-only").split() == ["topics/c.md"]


def test_what_only_looks_changed_makes_no_commit(store: Path) -> None:
    """Staged as it is in HEAD, since git's attributes make the same of both."""
    write(store, ".gitattributes", "*.md text eol=lf\n")
    write(store, "topics/a.md", "a\nnote\n")
    assert _recorder(store).record([".gitattributes", "topics/a.md"], "write: a") == Success(None)
    before = git(store, "rev-parse", "HEAD")
    write(store, "topics/a.md", "a\r\nnote\r\n")
    assert _recorder(store).record(["topics/a.md"], "write: a again") == Success(None)
    assert git(store, "rev-parse", "HEAD") == before


def test_a_branch_that_somebody_moves_meanwhile_keeps_their_commit(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_memory.adapters.git import git_commits

    _record_some(store)
    theirs = git(store, "commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}").strip()
    real = git_commits.GitCommits._with_trailers

    def moved(commits: git_commits.GitCommits, message: str, trailers: tuple[str, ...]) -> object:
        git(store, "update-ref", "refs/heads/main", theirs)
        return real(commits, message, trailers)

    monkeypatch.setattr(git_commits.GitCommits, "_with_trailers", moved)
    write(store, "topics/c.md", "a third")
    assert isinstance(_recorder(store).record(["topics/c.md"], "write: c"), Failure)
    monkeypatch.undo()
    assert _recorder(store).record(["topics/c.md"], "write: c") == Success(None)
    assert git(store, "log", "-2", "--format=%s").splitlines() == ["write: c", "theirs"]
