"""The history as git keeps it: the commits that touched a note, what objects hold, whether a repository tracks a file; and how
it is written anew without some of its files (P28)."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from agent_memory.adapters.disk.paths import exists, store_io
from agent_memory.adapters.git.git_process import GitProcess, failed
from agent_memory.adapters.surroundings.repository import work_tree_above
from agent_memory.domain.note_story import Revision
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, PathRefused, RecorderFailed
from agent_memory.results import as_result

Tracking = Literal["tracked", "ignored", "new"]

_LINE_CHARS = 200
_BEGINS = "\x01"
_FORMAT = "%x01%h%x00%aI%x00%an%x00%s"
_FIELDS = 4


@as_result
def revisions_of(git: GitProcess, path: str, most: int) -> tuple[Revision, ...]:
    """The newest commits that touched a note (the path of its file relative to the root), under whatever title; newest first.
    What other programs wrote into a commit is shown on one clean line without secrets."""
    if not exists(str(git.root / ".git")):
        return ()
    asked = ("--follow", "--name-only", f"--max-count={most}", f"--format={_FORMAT}", "-z", "--", path)
    output = git.run("log", *asked)
    if not output.ok:
        return ()
    revisions: list[Revision] = []
    for row in output.stdout.decode("utf-8", "replace").removeprefix(_BEGINS).split(f"\0{_BEGINS}"):
        words = row.split("\0")
        paths = [word.lstrip("\n") for word in words[_FIELDS:] if word]
        # Git takes a note that began as a copy of another one, which bears another id, for that one, renamed.
        own, *ids = (id_in_name(each) for each in (path, *paths))
        if len(words) < _FIELDS or any(each not in (None, own) for each in ids):
            break
        revisions.append(Revision(*(one_line(redact(word).text, _LINE_CHARS) for word in words[:_FIELDS])))
    return tuple(revisions)


def is_in_history(git: GitProcess, path: str) -> bool:
    output = git.run("rev-list", "--all", "--full-history", "--max-count=1", "--", path)
    return output.ok and bool(output.stdout.strip())


def contents_of(git: GitProcess, ids: Iterable[str]) -> Mapping[str, bytes]:
    """What these objects hold, by id; one that is missing is not among them."""
    found: dict[str, bytes] = {}
    wanted = sorted(ids)
    output = git.must("cat-file", "--batch", input="".join(f"{id}\n" for id in wanted).encode()) if wanted else b""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        words = output[at:end].split(b" ")
        at = end + 1
        if len(words) == 3:  # else it says that the object is missing
            size = int(words[2])
            found[words[0].decode("ascii")] = output[at : at + size]
            at += size + 1
    return found


def tracking_of(top: str, path: str, environ: Mapping[str, str]) -> Tracking:
    """What git has to do with a file of the work tree `top`."""
    git, name = GitProcess(Path(top), environ), os.path.relpath(path, top)
    try:
        if git.run("ls-files", "--error-unmatch", "--", name).ok:
            return "tracked"
        return "ignored" if git.run("check-ignore", "--quiet", "--", name).ok else "new"
    except Error:
        return "new"


def may_be_committed(path: str, environ: Mapping[str, str]) -> bool:
    """Whether a file is in a repository that does not ignore it; also where that cannot be told (P6)."""
    real = os.path.realpath(path)
    try:
        top = work_tree_above(os.path.dirname(real))
    except OSError:
        return True
    return top is not None and tracking_of(top, real, environ) != "ignored"


# -- a purge ----------------------------------------------------------------------------------------------------------

_KEPT = ("HEAD", "packed-refs", "refs", "objects", "config", "description", "hooks", "index", "info", "shallow")
_KEPT_INFO = ("exclude", "attributes")
_CONSERVED = (("for-each-ref", "--format=%(refname)"), ("rev-list", "--all", "--count"))
_GONE = "gone"
"""File in the repository: the ids of the objects that the rewriting says are gone."""


def purge_history(root: Path, environ: Mapping[str, str], rewriter: Sequence[str]) -> None:
    """Rewrite every reachable commit by git-filter-repo, in a process of its own, and keep no object of before; nothing where
    there is no repository. On a failure of the rewriting the history is as it was. All of it may be done twice: after a crash
    anywhere the purge is made again. The caller holds both locks: a commit that came between would be lost.

    `rewriter` is the module that calls `forgetting.purging.rewrite` with its rules, and its arguments; `_GONE` comes last.
    """
    git = GitProcess(root, environ)
    try:
        if not exists(str(git.directory)):  # that nobody may look does not mean that nothing is there (P28)
            return
        if not stat.S_ISDIR(os.lstat(git.directory).st_mode):
            elsewhere = "it leads to a repository elsewhere, which is to be purged there"
            raise PathRefused(str(git.directory), elsewhere)
        before = [git.must(*words) for words in _CONSERVED]
        rewritten = git.python(*rewriter, _GONE)
        if not rewritten.ok:
            raise failed(("filter-repo",), rewritten)
        if [git.must(*words) for words in _CONSERVED] != before:
            raise RecorderFailed("git filter-repo", 1, "of the rewritten history something is missing")
        # What is derived or transient goes: that names what goes, too. The locks of others are left alone.
        for parent, kept in ((git.directory, (*_KEPT, _GONE)), (git.directory / "info", _KEPT_INFO)):
            for name in os.listdir(parent) if exists(str(parent)) else ():
                path = parent / name
                if name in kept or name.endswith(".lock"):
                    continue
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    shutil.rmtree(path)
                else:
                    path.unlink()
        if git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
            git.must("read-tree", "HEAD")  # the index of before would keep what it names
        git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        git.must("gc", "--quiet", "--prune=now")
        git.must("fsck", "--full", "--no-progress", "--no-dangling")
        gone = git.directory / _GONE
        listed = git.must("cat-file", "--batch-check", input=gone.read_bytes())
        if not all(line.endswith(b" missing") for line in listed.splitlines()):
            raise RecorderFailed("git cat-file", 1, "what was to go is still in the rewritten history")
        gone.unlink()
        if exists(former := f"{root}/runs/purge"):  # where earlier versions rewrote a copy of the history
            shutil.rmtree(former)
    except OSError as error:
        raise store_io(error, "rewrite", str(git.directory)) from error
