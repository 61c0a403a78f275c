"""The first commit of a repository, which stays when it is moved or renamed. Asked of git, since no file tells it cheaply."""

from __future__ import annotations

import os
import subprocess

UNKNOWN = "?"
"""It was asked for, and is not to be asked for again: a shallow clone, a history too long for a hook."""

_SECONDS = 3.0


def root_commit_of(common: str, head: str | None) -> str:
    """The first commit of the trunk (`--first-parent`: a history that was merged in has another). Empty where there is no
    commit yet, UNKNOWN where git does not tell. The caller's environment and settings have no say (P4)."""
    if head is None:
        return ""
    if os.path.lexists(f"{common}/shallow"):
        return UNKNOWN
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    command = ("git", f"--git-dir={common}", "rev-list", "--first-parent", "--max-parents=0", head, "--")
    try:
        asked = subprocess.run(
            command, env=environ, cwd="/", capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return asked.stdout.decode("ascii", "replace").strip() or UNKNOWN
