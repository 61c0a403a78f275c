"""The git history of a store, written anew without some of its files (P28), by git-filter-repo, in a process of its own
(`forgetting.purging`).

All of it may be done twice: after a crash anywhere the purge is run again. The caller holds both locks: a commit that came
between would be lost.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_memory.adapters.disk.paths import exists, store_io
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.errors import PathRefused, RecorderFailed

_KEPT = ("HEAD", "packed-refs", "refs", "objects", "config", "description", "hooks", "index", "info", "shallow")
_KEPT_INFO = ("exclude", "attributes")
_CONSERVED = (("for-each-ref", "--format=%(refname)"), ("rev-list", "--all", "--count"))
_GONE = "gone"
"""File in the repository: the ids of the objects that the rewriting says are gone."""


def purge_history(root: Path, environ: Mapping[str, str], rewriter: Sequence[str]) -> None:
    """Rewrite every reachable commit, and keep no object of before; nothing where there is no repository. On a failure of the
    rewriting the history is as it was.

    `rewriter` is the module that calls `forgetting.purging.rewrite` with its rules, and its arguments; `_GONE` comes last.
    """
    git = GitProcess(root, environ)
    try:
        if not exists(str(git.directory)):  # that nobody may look does not mean that nothing is there (P28)
            return
        if not stat.S_ISDIR(os.lstat(git.directory).st_mode):
            elsewhere = "it leads to a repository elsewhere, which is to be purged there"
            raise PathRefused(str(git.directory), elsewhere)
        _rewrite(git, rewriter)
        _clear_away(git.directory)
        if git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
            git.must("read-tree", "HEAD")  # the index of before would keep what it names
        git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        git.must("gc", "--quiet", "--prune=now")
        _verify(git)
    except OSError as error:
        raise store_io(error, "rewrite", str(git.directory)) from error


def _rewrite(git: GitProcess, rewriter: Sequence[str]) -> None:
    before = [git.must(*words) for words in _CONSERVED]
    rewritten = git.python(*rewriter, _GONE)
    if not rewritten.ok:
        raise failed(("filter-repo",), rewritten)
    if [git.must(*words) for words in _CONSERVED] != before:
        raise RecorderFailed("git filter-repo", 1, "of the rewritten history something is missing")


def _clear_away(directory: Path) -> None:
    """Remove what is derived or transient: that names what goes, too. The locks of others are left alone."""
    for parent, kept in ((directory, (*_KEPT, _GONE)), (directory / "info", _KEPT_INFO)):
        for name in os.listdir(parent) if exists(str(parent)) else ():
            path = parent / name
            if name in kept or name.endswith(".lock"):
                continue
            if stat.S_ISDIR(os.lstat(path).st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()


def _verify(git: GitProcess) -> None:
    """Raise RecorderFailed where git finds something wrong, or something is there that should not be."""
    git.must("fsck", "--full", "--no-progress", "--no-dangling")
    path = git.directory / _GONE
    listed = git.must("cat-file", "--batch-check", input=path.read_bytes())
    if not all(line.endswith(b" missing") for line in listed.splitlines()):
        raise RecorderFailed("git cat-file", 1, "what was to go is still in the rewritten history")
    path.unlink()
