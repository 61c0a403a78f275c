"""The git history of a store, written anew without some of its files (P28).

A copy of the repository is rewritten by git-filter-repo, in a process of its own (`forgetting.purging`), and verified; then the two
change places, and the old one goes with all its objects. `runs/purge/new.git` is the copy, `runs/purge/old.git` is what was
there. As long as both are there the exchange is half done, and whoever comes next to `.git` finishes it. The caller holds both
locks: a commit that came between would be lost.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_memory.adapters.disk.durable import fsync_directory, make_directories
from agent_memory.adapters.disk.paths import exists, lies_there, store_io
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.adapters.surroundings.root import is_directory
from agent_memory.errors import PathRefused, RecorderFailed

PURGE = "runs/purge"
_COPIED = (
    *("HEAD", "packed-refs", "refs", "objects", "config", "description", "hooks"),
    *("info/exclude", "info/attributes"),
)
_GONE = "gone"
"""File in the copy: the ids of the objects that the rewriting says are gone."""


def new_repository(root: Path) -> Path:
    """Where the rewritten repository is made."""
    return root / PURGE / "new.git"


def old_repository(root: Path) -> Path:
    """Where the old one is kept until the new one is in its place."""
    return root / PURGE / "old.git"


def purge_history(root: Path, environ: Mapping[str, str], rewriter: Sequence[str]) -> None:
    """Rewrite every reachable commit; nothing where there is no repository. On a failure the old one is in its place.

    `rewriter` is the module that calls `forgetting.purging.rewrite` with its rules, and its arguments; `_GONE` comes last.
    """
    old, new = GitProcess(root, environ), GitProcess(root, environ, new_repository(root))
    try:
        finish_swap(root)
        if not exists(str(root / ".git")):  # that nobody may look does not mean that nothing is there (P28)
            return
        if not stat.S_ISDIR(os.lstat(root / ".git").st_mode):
            elsewhere = "it leads to a repository elsewhere, which is to be purged there"
            raise PathRefused(str(root / ".git"), elsewhere)
        if is_directory(str(old_repository(root))):
            if is_directory(str(new_repository(root))):
                made = "it was made while the history was being rewritten; move it away, and run the command again"
                raise PathRefused(str(root / ".git"), made)
            _tidy_up(old)  # the exchange was made, and only that was left
            return
        if is_directory(str(new_repository(root))):
            shutil.rmtree(new_repository(root))
        make_directories(str(root / PURGE))
        _copy(root / ".git", new_repository(root))
        _rewrite(new, rewriter)
        _verify(old, new)
        _swap(root)
        _tidy_up(old)
    except OSError as error:
        raise store_io(error, "rewrite", str(root / ".git")) from error


def _copy(source: Path, target: Path) -> None:
    """A copy of a repository without what is derived or transient: that names what goes, too."""
    for name in _COPIED:
        if lies_there(str(source / name)):
            mode = os.lstat(source / name).st_mode
            make_directories(str((target / name).parent))
            if stat.S_ISDIR(mode):
                shutil.copytree(source / name, target / name, symlinks=True)
            elif stat.S_ISREG(mode):
                shutil.copyfile(source / name, target / name)


def _rewrite(new: GitProcess, rewriter: Sequence[str]) -> None:
    new.must("config", "core.bare", "true")  # so that no work tree is touched
    rewritten = new.python(*rewriter, _GONE)
    if not rewritten.ok:
        raise failed(("filter-repo",), rewritten)
    new.must("config", "core.bare", "false")
    shutil.rmtree(new.directory / "filter-repo", ignore_errors=True)
    new.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    new.must("gc", "--quiet", "--prune=now")


def _verify(old: GitProcess, new: GitProcess) -> None:
    """Raise RecorderFailed where git finds something wrong, where a ref or a commit is missing that should be there, or
    where something is there that should not."""
    new.must("fsck", "--full", "--no-progress", "--no-dangling")
    for words in (("for-each-ref", "--format=%(refname)"), ("rev-list", "--all", "--count")):
        if old.must(*words) != new.must(*words):
            raise RecorderFailed(f"git {words[0]}", 1, "the rewritten history was refused: something is missing")
    path = new.directory / _GONE
    listed = new.must("cat-file", "--batch-check", input=path.read_bytes())
    if not all(line.endswith(b" missing") for line in listed.splitlines()):
        raise RecorderFailed("git cat-file", 1, "the rewritten history was refused: what was to go is still there")
    path.unlink()


def _swap(root: Path) -> None:
    os.rename(root / ".git", old_repository(root))
    fsync_directory(str(root / PURGE))
    fsync_directory(str(root))
    finish_swap(root)


def finish_swap(root: Path) -> bool:
    """Whether an exchange that a crash interrupted was finished: the only moment at which there is no `.git`. Raises
    OSError."""
    if lies_there(str(root / ".git")):
        return False
    if not (is_directory(str(old_repository(root))) and is_directory(str(new_repository(root)))):
        return False
    os.rename(new_repository(root), root / ".git")
    fsync_directory(str(root))
    fsync_directory(str(root / PURGE))
    return True


def _tidy_up(git: GitProcess) -> None:
    """An index for the new repository, and the old one gone."""
    if git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
        git.run("read-tree", "HEAD")
    if is_directory(str(git.root / PURGE)):
        shutil.rmtree(git.root / PURGE)
