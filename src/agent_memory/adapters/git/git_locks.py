"""Lock files that a git which no longer runs has left behind (P4: they block nothing and are repaired).

Git's locks are plain files, so a killed git leaves them for ever. Ours never overlap (the store's write lock is held
around every record); a lock belongs to a person's git, or to nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

STALE_SECONDS = 2.0
"""Age of a lock that no git works behind."""

STALE_UNSEEN_SECONDS = 120.0
"""The same where it cannot be seen which processes run."""

_ENDING = ".lock"
_BELOW = ("refs", "objects/info")


def lock_files(git_directory: Path) -> tuple[Path, ...]:
    """Every lock file of a repository. Raises OSError where that cannot be looked through: it is never taken for free (P6),
    as the globs of `pathlib` do where permission is denied."""
    found: list[str] = []
    for start in ("", *_BELOW):
        for parent, below, names in os.walk(git_directory / start, onerror=_refuse):
            found += [f"{parent}/{name}" for name in sorted(names) if name.endswith(_ENDING)]
            if not start:
                below.clear()
    return tuple(map(Path, found))


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def remove_stale_locks(root: Path, git_directory: Path) -> bool:
    """True when no lock is left: all that there were belonged to nobody and are gone. Raises OSError."""
    locks = lock_files(git_directory)
    if locks and len(stale_locks(root, git_directory)) < len(locks):
        return False
    for path in locks:
        path.unlink(missing_ok=True)
    return True


def stale_locks(root: Path, git_directory: Path) -> tuple[Path, ...]:
    """The locks that belong to nobody: all or none, since a git that works may have made any of them. Raises OSError."""
    locks = lock_files(git_directory)
    if not locks:
        return ()
    working = _git_works_in(root)
    limit_seconds = STALE_UNSEEN_SECONDS if working is None else STALE_SECONDS
    if working or any(_age_seconds(path) < limit_seconds for path in locks):
        return ()
    return locks


def _age_seconds(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _git_works_in(root: Path) -> bool | None:
    """Whether a git process works in this tree (git enters the work tree it works on); None where that cannot be seen. Raises
    OSError where one was not looked at that may be it (P6)."""
    real = os.path.realpath(root)
    directories = _from_proc() if os.path.isdir("/proc/self") else _from_lsof()
    if directories is None:
        return None
    return any(directory == real or directory.startswith(f"{real}/") for directory in directories)


def _from_proc() -> tuple[str, ...]:
    processes = (f"/proc/{name}" for name in os.listdir("/proc") if name.isdigit())
    return tuple(directory for process in processes if (directory := _directory_of_git(process)))


def _directory_of_git(process: str) -> str:
    try:
        with open(f"{process}/comm", encoding="utf-8", errors="replace") as name:
            return os.readlink(f"{process}/cwd") if name.read().startswith("git") else ""
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # it ended, or belongs to someone else
        return ""


def _from_lsof() -> tuple[str, ...] | None:
    program = shutil.which("lsof")
    if program is None:
        return None
    try:
        asked = subprocess.run(
            [program, "-a", "-c", "git", "-d", "cwd", "-Fn"], capture_output=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = asked.stdout.decode("utf-8", "replace").splitlines()
    return tuple(line[1:] for line in lines if line.startswith("n"))
