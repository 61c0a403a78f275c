"""The git history rewritten: what goes, what stays, and what stands when it fails (P28)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, PathRefused, StoreIo
from agent_memory.git.git_history import purge_history
from agent_memory.git.git_process import GitProcess
from agent_memory.results import as_result
from faults import failing_on

WORD = "quuxword"


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self("init", "-q", "-b", "main")

    def __call__(self, *words: str) -> str:
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            **{f"GIT_{who}_{what}": "p@h" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        done = subprocess.run(
            ["git", "-C", str(self.root), *words], capture_output=True, text=True, check=True, env=environ
        )
        return done.stdout

    def commit(self, message: str, **files: str | None) -> None:
        for name, text in files.items():
            path = self.root / "topics" / f"{name.replace('_', ' ')}.md"
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True) if text is None else path.write_text(text)
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", message)

    def everything(self) -> str:
        """All that any object of the repository holds."""
        listed = subprocess.run(
            ["git", "-C", str(self.root), "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
        )
        return listed.stdout.decode("utf-8", "replace")

    def purge(self) -> Result[None, Error]:
        return purged(self.root)


def purged(root: Path) -> Result[None, Error]:
    return as_result(purge_history)(GitProcess(root, os.environ), ("rewriter",))


@pytest.fixture
def repository(home: Path) -> Repository:
    """Branches, a merge, tags, a renamed file, an odd name, and a copy of the bytes under a name that stays."""
    git = Repository(home / "memories")
    git.commit("first", kept="kept\n", gone=f"{WORD} one\n")
    git("checkout", "-q", "-b", "side")
    git.commit("on the side", odd='"odd" name\n', gone=f"{WORD} two\n")
    (git.root / "topics" / 'a "b"\té.md').write_text("quoted\n")
    git.commit("an odd name", same="the same bytes\n", versioned="DROP this version\n")
    git("checkout", "-q", "main")
    git.commit("meanwhile", kept="kept with a secret\n")
    git("merge", "-q", "--no-ff", "-m", "merged", "side", "-X", "ours")
    git("tag", "-a", "v1", "-m", "a tag")
    git.commit("now it goes", gone=None, versioned="this version stays\n")
    git.commit("nothing of it", other="other\n")
    git("tag", "light")
    return git


def test_what_goes_is_in_no_object_and_all_else_is_as_it_was_p28(repository: Repository) -> None:
    before = repository.everything()
    assert all(word in before for word in (WORD, "DROP this", "a secret"))  # positive control
    refs, count = repository("for-each-ref", "--format=%(refname)"), repository("rev-list", "--all", "--count")
    files = repository("ls-tree", "-r", "--name-only", "HEAD")
    git = repository.root / ".git"
    (git / "shallow.lock").touch()
    kept = [*(git / "info").iterdir(), git / "config", git / "shallow.lock"]

    assert repository.purge() == Success(None)
    after = repository.everything()
    assert WORD not in after
    assert "DROP this" not in after
    assert "a secret" not in after
    assert "kept with a plain" in after
    assert repository("for-each-ref", "--format=%(refname)") == refs
    assert repository("rev-list", "--all", "--count") == count
    assert repository("ls-tree", "-r", "--name-only", "HEAD") == files
    assert repository("fsck", "--full", "--no-dangling") == ""
    assert "meanwhile" not in repository("log", "--format=%s", "light")  # it touched what was rewritten
    assert "an odd name" not in repository("log", "--format=%s", "light")
    assert repository("log", "--format=%s", "light").startswith("nothing of it\nforgotten\n")
    assert repository("show", "side:topics/odd.md") == '"odd" name\n'
    assert not (git / "COMMIT_EDITMSG").exists()
    assert not (git / "filter-repo").exists()
    assert all(path.exists() for path in kept)
    # The work tree is as it was, and git sees what changed in it: the file that is rewritten in the history only.
    assert repository("status", "--porcelain") == " M topics/kept.md\n"


def test_where_there_is_no_repository_nothing_is_done(home: Path) -> None:
    (home / "memories").mkdir()
    assert purged(home / "memories") == Success(None)
    assert os.listdir(home / "memories") == []


def test_a_repository_that_lies_elsewhere_is_refused(home: Path) -> None:
    root = home / "memories"
    root.mkdir()
    (root / ".git").write_text("gitdir: /somewhere/else\n")
    match purged(root):
        case Failure(PathRefused(_, reason)):
            assert "elsewhere" in reason
        case other:
            raise AssertionError(other)
    assert (root / ".git").read_text() == "gitdir: /somewhere/else\n"


@pytest.mark.parametrize("name", ["/.git", "/.git/info"])
def test_what_cannot_be_looked_at_is_not_taken_for_missing_by_any_python_p6_p28(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """pathlib of 3.14 says "no" where an older one raises."""
    monkeypatch.setattr(Path, "is_dir", os.path.isdir)
    monkeypatch.setattr(Path, "is_file", os.path.isfile)
    repository("config", "remote.origin.url", "https://example.org/x.git")
    with failing_on(name, "stat", "lstat") as counter:
        purged = repository.purge()
    assert counter.struck
    assert isinstance(purged.failure(), StoreIo)
    assert repository.purge() == Success(None)
    assert WORD not in repository.everything()
    assert repository("config", "remote.origin.url") == "https://example.org/x.git\n"


def test_a_damaged_history_is_left_as_it_is(repository: Repository) -> None:
    blob = repository("rev-parse", "side:topics/odd.md").strip()
    path = repository.root / ".git" / "objects" / blob[:2] / blob[2:]
    path.unlink()
    head = repository("rev-parse", "HEAD")
    assert isinstance(repository.purge(), Failure)
    assert repository("rev-parse", "HEAD") == head


def test_a_purge_that_was_cut_short_is_made_again_p2(repository: Repository) -> None:
    with failing_on("COMMIT_EDITMSG", "unlink"):  # the history is rewritten, and its old objects are still there
        assert isinstance(repository.purge(), Failure)
    assert WORD in repository.everything()
    assert repository.purge() == Success(None)
    assert WORD not in repository.everything()


def test_a_purge_that_could_not_remove_the_old_objects_says_so_each_time_p28(repository: Repository) -> None:
    repository("repack", "-a", "-d", "-q")
    for pack in (repository.root / ".git/objects/pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()
    for _ in range(2):
        refused = repository.purge()
        assert isinstance(refused, Failure)
        assert "still in" in str(refused.failure())
    for keep in (repository.root / ".git/objects/pack").glob("*.keep"):
        keep.unlink()
    assert repository.purge() == Success(None)
    assert WORD not in repository.everything()
