"""The store's repository as it lies there. Nothing of it is changed, not even its index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_directory, is_there, those_there
from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.adapters.git.git_repository import GitRepository, stale_locks
from agent_memory.domain.doctor.store_checks import GitFacts
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error
from agent_memory.results import as_result, sealed
from agent_memory.wording import describe

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_SAID_CHARS = 160
_DETACHED = 1
"""How `git symbolic-ref --quiet` ends where HEAD is on no branch; any other status but 0 is damage."""


def read_git(root: Path, environ: Mapping[str, str], owed: int) -> GitFacts:
    """All that is known; `owed` are the writes that wait to be recorded."""
    git = GitProcess(root, environ)
    directory = git_directory(root, environ)
    present = is_there(str(root / ".git"))
    if present == Success(False):
        return GitFacts(present=False, owed=owed, trouble=_trouble(_asked(git)))
    if isinstance(present, Failure):
        return GitFacts(present=True, owed=owed, trouble=describe(present.failure()))
    if isinstance(directory, Failure):
        return GitFacts(present=True, owed=owed, trouble=describe(directory.failure()))
    where = directory.unwrap()
    try:
        locks = tuple(os.path.relpath(path, root) for path in stale_locks(root, where))
    except OSError as refused:
        return GitFacts(present=True, owed=owed, trouble=describe(store_io(refused, "look through", str(where))))
    # Asked of a path that is never tracked, so that history and index are read, and fifty thousand files not looked at.
    status = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--", ".git")
    run = as_result(git.run)
    unmerged = run(*status).bind(lambda read: run("ls-files", "-z", "--unmerged") if read.ok else Success(read))
    match sealed(unmerged):
        case Failure(error):
            return GitFacts(present=True, owed=owed, stale_locks=locks, trouble=describe(error))
        case Success(output) if not output.ok:
            return GitFacts(present=True, owed=owed, stale_locks=locks, trouble=_unreadable(output))
        case Success(output):
            named = run("symbolic-ref", "--quiet", "--short", "HEAD").value_or(output)
            begun = those_there(str(where), _UNFINISHED)
            return GitFacts(
                present=True,
                trouble=_unreadable(named) if named.status > _DETACHED else _trouble(begun),
                stale_locks=locks,
                branch=named.stdout.decode("utf-8", "replace").strip() if named.ok else None,
                unfinished=next((_UNFINISHED[name] for name in begun.value_or(())), ""),
                conflicted=_conflicted(output.stdout),
                owed=owed,
            )


@as_result
def git_directory(root: Path, environ: Mapping[str, str]) -> Path:
    """Where git keeps the repository of a root."""
    return GitRepository(GitProcess(root, environ)).directory()


def _asked(git: GitProcess) -> Result[None, Error]:
    """Whether git can be called at all, where there is something to record."""
    there = is_directory(str(git.root))
    return there.bind(
        lambda has_root: as_result(git.run)("--version").map(lambda _: None) if has_root else Success(None)
    )


def _trouble(asked: Result[object, Error]) -> str:
    return describe(asked.failure()) if isinstance(asked, Failure) else ""


def _unreadable(output: GitOutput) -> str:
    said = one_line(output.stderr, _SAID_CHARS) or f"status {output.status}"
    return f"Git cannot read the history ({said}); the next run mends it, or moves it aside and begins a new one"


def _conflicted(unmerged: bytes) -> tuple[str, ...]:
    """The files, each of which has an entry for each side: `<mode> <object> <stage>`, a tab, the path."""
    return tuple(dict.fromkeys(os.fsdecode(each.partition(b"\t")[2]) for each in unmerged.split(b"\0") if each))
