"""Whether a file goes where a repository's commits go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from returns.result import Success

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.surroundings.repository import work_tree_above

Tracking = Literal["tracked", "ignored", "new"]


def tracking_of(top: str, path: str, environ: Mapping[str, str]) -> Tracking:
    """What git has to do with a file of the work tree `top`."""
    git, name = GitProcess(Path(top), environ), os.path.relpath(path, top)
    for words, answer in ((("ls-files", "--error-unmatch"), "tracked"), (("check-ignore", "--quiet"), "ignored")):
        asked = git.run(*words, "--", name)
        if isinstance(asked, Success) and asked.unwrap().ok:
            return "tracked" if answer == "tracked" else "ignored"
    return "new"


def may_be_committed(path: str, environ: Mapping[str, str]) -> bool:
    """Whether a file is in a repository that does not ignore it; also where that cannot be told (P6)."""
    real = os.path.realpath(path)
    try:
        top = work_tree_above(os.path.dirname(real))
    except OSError:
        return True
    return top is not None and tracking_of(top, real, environ) != "ignored"
