"""Which files are targets, and whose notes each of them shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from agent_memory.domain.section import Target
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.ports import Places

READ_EVERYWHERE = (
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".codex/AGENTS.override.md",
    ".config/AGENTS.md",
    ".config/amp/AGENTS.md",
    ".config/goose/.goosehints",
    ".config/opencode/AGENTS.md",
    ".copilot/copilot-instructions.md",
    ".gemini/GEMINI.md",
    ".pi/agent/AGENTS.md",
)
"""Files below the home that harnesses read in every session: whatever repository holds them, they show what is global."""


def expanded(path: str, home: str | None, directory: str | None = None) -> str:
    """The path with `~` as the home, and from `directory` where it is relative and that is given; else as it is."""
    if home is not None and (path == "~" or path.startswith("~/")):
        return os.path.normpath(home + path[1:])
    return os.path.normpath(f"{directory}/{path}") if directory and not os.path.isabs(path) else path


def chosen_targets(
    paths: Iterable[str], home: str | None, places: Places, is_committed: Callable[[str], bool]
) -> tuple[Target, ...]:
    """A target for each path, each once: it shows what is global and what belongs to its place; a file that its repository may
    commit, only the latter."""
    return tuple(Target(path, scopes_of(path, home, places, is_committed)) for path in dict.fromkeys(paths))


def scopes_of(path: str, home: str | None, places: Places, is_committed: Callable[[str], bool]) -> frozenset[str]:
    """The scopes that a target shows. A directory that is a link into a repository is not that repository's."""
    if home is not None and (path in {f"{home}/{each}" for each in READ_EVERYWHERE} or _is_behind_a_link(path, home)):
        return frozenset({GLOBAL_SCOPE})
    scope = places.scope_of(os.path.dirname(path))
    return frozenset({scope} if is_committed(path) else {scope, GLOBAL_SCOPE})


def told_path(path: str, home: str | None) -> str:
    """The path as it is written down where others may read it: with `~` in place of the home."""
    real_home = None if home is None else os.path.realpath(home)
    for each in (home, real_home):
        if each is not None and (path == each or path.startswith(f"{each.rstrip('/')}/")):
            return f"~{path[len(each.rstrip('/')) :]}"
    return path


def _is_behind_a_link(path: str, home: str) -> bool:
    directory = os.path.dirname(os.path.normpath(path))
    below = os.path.relpath(directory, home)
    return not below.startswith("..") and os.path.realpath(directory) != os.path.normpath(
        f"{os.path.realpath(home)}/{below}"
    )
