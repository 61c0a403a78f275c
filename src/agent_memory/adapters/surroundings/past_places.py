"""Where past sessions took place: the directory may be gone by now."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.surroundings.repository import read_repository, temporary_directories
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.queueing.scope import GLOBAL_SCOPE, scope_key


def past_repo(directory: str, environ: Mapping[str, str]) -> str | None:
    """The scope key of the repository that a directory is in; None where it is in none.

    One that is gone is taken for a repository of its own, unless it was the home or temporary: what was learnt in a project
    that nobody has any more must not be shown in every other.
    """
    home = home_of(environ)
    scope = read_repository(directory, environ, home).scope
    if scope == GLOBAL_SCOPE and directory.startswith("/") and _is_gone(directory):
        real = os.path.realpath(directory)
        real_home = None if home is None else os.path.realpath(home)
        scope = scope_key(real, f"{real}/.git", (), real_home, temporary_directories(environ))
    return None if scope == GLOBAL_SCOPE else scope


def _is_gone(directory: str) -> bool:
    """For certain: one that cannot be looked at may be anything (P6)."""
    try:
        return not lies_there(directory)
    except OSError:
        return False
