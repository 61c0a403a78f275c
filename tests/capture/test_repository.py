from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory.capture.repository import (
    GLOBAL_SCOPE,
    Repository,
    may_be_in_work_tree,
    read_repository,
    work_tree_above,
)
from faults import failing_on

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs the real git, so that what we read is what it writes."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def run(directory: Path, *words: str) -> str:
        finished = subprocess.run(
            ["git", *words], cwd=directory, env=environ, check=True, capture_output=True, text=True
        )
        return finished.stdout.strip()

    return run


@pytest.fixture
def project(git: Git, home: Path) -> Path:
    path = home / "project"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def read(directory: Path, home: Path) -> tuple[str, str | None, str | None]:
    found = read_repository(str(directory), {"HOME": str(home)})
    return found.scope, found.branch, found.commit


def test_branch_commit_and_remote_are_what_git_says(git: Git, project: Path, home: Path) -> None:
    git(project, "remote", "add", "origin", "https://user:token@GitHub.com/owner/repo.git")
    (project / "deep" / "er").mkdir(parents=True)
    expected = ("github.com/owner/repo", "main", git(project, "rev-parse", "HEAD"))
    assert read(project, home) == read(project / "deep" / "er", home) == expected


def test_a_packed_branch_whose_name_begins_like_another(git: Git, project: Path, home: Path) -> None:
    git(project, "branch", "mainline")
    git(project, "commit", "-q", "--allow-empty", "-m", "second")
    git(project, "pack-refs", "--all")
    assert read(project, home)[2] == git(project, "rev-parse", "main") != git(project, "rev-parse", "mainline")


def test_a_detached_head_has_a_commit_and_no_branch(git: Git, project: Path, home: Path) -> None:
    git(project, "checkout", "-q", "--detach")
    assert read(project, home)[1:] == (None, git(project, "rev-parse", "HEAD"))


def test_a_work_tree_shares_the_key_and_has_its_own_branch(git: Git, project: Path, home: Path) -> None:
    git(project, "worktree", "add", "-q", "-b", "side", str(home / "side"))
    git(home / "side", "commit", "-q", "--allow-empty", "-m", "on the side")
    assert read(home / "side", home) == (read(project, home)[0], "side", git(home / "side", "rev-parse", "HEAD"))
    git(project, "remote", "add", "origin", "git@h:o/r")
    assert read(home / "side", home)[0] == "h/o/r"


def test_a_submodule_is_a_repository_of_its_own(git: Git, project: Path, home: Path) -> None:
    other = home / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "other")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(project / "sub", "remote", "remove", "origin")
    assert read(project / "sub", home)[0] == f"path:{project}/.git/modules/sub"


def test_outside_of_any_repository_a_directory_is_a_place_and_only_the_home_is_everywhere(home: Path) -> None:
    (home / "papers").mkdir()
    assert read(home / "papers", home) == (f"path:{home}/papers", None, None)
    assert read(home / "missing", home) == (f"path:{home}/missing", None, None)
    assert read(home, home) == read(home.parent, home) == (GLOBAL_SCOPE, None, None)
    assert read_repository("/a\0b", {}).scope == GLOBAL_SCOPE


def test_a_repository_at_the_home_makes_no_place_of_what_is_below_it(git: Git, home: Path) -> None:
    git(home, "init", "-q", "-b", "main")
    git(home, "remote", "add", "origin", "git@h:me/dotfiles")
    (home / "docs").mkdir()
    assert read(home, home)[0] == GLOBAL_SCOPE
    assert read(home / "docs", home)[0] == f"path:{home}/docs"


def test_a_clone_of_a_repository_on_this_disk_is_that_one(git: Git, project: Path, home: Path) -> None:
    git(home, "clone", "-q", "--bare", str(project), str(home / "bare.git"))
    for source, target in (("project", "clone"), ("clone", "again"), ("bare.git", "of-bare")):
        git(home, "clone", "-q", str(home / source), str(home / target))
    assert {read(home / name, home)[0] for name in ("project", "clone", "again", "of-bare")} == {f"path:{project}/.git"}
    git(project, "remote", "add", "origin", "git@h:o/r")
    assert {read(home / name, home)[0] for name in ("project", "clone", "again", "of-bare")} == {"h/o/r"}


def test_two_repositories_that_are_clones_of_each_other_have_a_key(git: Git, project: Path, home: Path) -> None:
    git(home, "clone", "-q", str(project), str(home / "clone"))
    git(project, "remote", "add", "origin", str(home / "clone"))
    assert read(project, home)[0].startswith("path:")


def test_variables_are_ignored_p4(git: Git, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "other").mkdir()
    git(home / "other", "init", "-q", "-b", "wrong")
    monkeypatch.setenv("GIT_DIR", str(home / "other" / ".git"))
    assert read(project, home)[1] == "main"


def test_a_bare_repository_and_its_work_trees_are_one(git: Git, project: Path, home: Path) -> None:
    git(home, "clone", "-q", "--bare", str(project), str(home / "lamp" / ".bare"))
    (home / "lamp" / ".git").write_text("gitdir: ./.bare\n")
    git(home / "lamp" / ".bare", "worktree", "add", "-q", str(home / "lamp" / "side"), "-b", "side")
    git(home / "lamp" / ".bare", "remote", "remove", "origin")
    expected = f"path:{home}/lamp/.bare"
    assert {read(home / "lamp", home)[0], read(home / "lamp" / "side", home)[0]} == {expected}


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\n\turl = git@h:o/r\n',
        '[REMOTE "origin"]\n\tURL=git@h:o/r ; a comment\n',
        '[remote "origin"] url = "git@h:o/r"\n',
        '[remote "origin"]\n  fetch = +refs/heads/*:refs/remotes/origin/*\n  url = git@h:o/\\\nr\n',
        '[branch "x"]\n url = git@wrong:o/r\n[remote "origin"]\nurl = git@h:o/r # "\n[core]\nurl = git@wrong:x/y\n',
        '\r\n[remote "origin"]\r\n\turl = git@h:o/r\r\n',
    ],
)
def test_every_way_to_write_the_config(config: str, home: Path) -> None:
    (home / "p" / ".git").mkdir(parents=True)
    (home / "p" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (home / "p" / ".git" / "config").write_text(config)
    assert read(home / "p", home)[0] == "h/o/r"


@pytest.mark.parametrize(
    "head",
    [
        b"", b"\xff\xfe", b"ref: ", b"ref: ../../../etc/passwd", b"ref: refs/../../../x", b"ref: refs/heads/\x1b[31m",
        b"x" * 99,
    ],
)  # fmt: skip
def test_a_damaged_head_is_no_branch_and_no_commit(head: bytes, home: Path) -> None:
    (home / "p" / ".git").mkdir(parents=True)
    (home / "p" / ".git" / "HEAD").write_bytes(head)
    assert read(home / "p", home)[1:] == (None, None)


def test_special_files_hold_nothing_up(home: Path) -> None:
    git_directory = home / "p" / ".git"
    git_directory.mkdir(parents=True)
    (git_directory / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("config", "packed-refs", "commondir"):
        os.mkfifo(git_directory / name)
    found: list[Repository] = []
    thread = threading.Thread(
        target=lambda: found.append(read_repository(str(home / "p"), {"HOME": str(home)})), daemon=True
    )
    thread.start()
    thread.join(5)
    assert [one.branch for one in found] == ["main"]


@pytest.mark.parametrize("ending", ["inner/.git", "inner/.git/HEAD"])
def test_an_unreadable_repository_is_not_its_parent_p6(git: Git, project: Path, home: Path, ending: str) -> None:
    git(project, "remote", "add", "origin", "https://github.com/owner/outer.git")
    inner = project / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    with failing_on(ending, "stat"):
        assert read(inner, home) == (f"path:{inner}", None, None)
        with pytest.raises(OSError, match="Input/output error"):
            work_tree_above(str(inner))


def test_nothing_private_goes_where_a_repository_may_be_p6(home: Path) -> None:
    (home / "p").mkdir()
    assert not may_be_in_work_tree(str(home / "p"))
    with failing_on("p/.git", "stat"):
        assert may_be_in_work_tree(str(home / "p"))


def test_a_git_file_that_points_nowhere_is_no_repository(home: Path) -> None:
    (home / "p").mkdir()
    (home / "p" / ".git").write_text("gitdir: /nowhere\n")
    assert read(home / "p", home)[0] == f"path:{home}/p"
