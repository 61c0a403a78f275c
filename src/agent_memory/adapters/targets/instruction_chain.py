"""How much Codex reads together with a file: it stops at 32 KiB over all (codex: guides/agents-md, `project_doc_max_bytes`).

Codex reads `AGENTS.override.md`, else `AGENTS.md`, of `~/.codex` and of each directory from the top of the work tree down
to where it runs.
"""

from __future__ import annotations

import os

from agent_memory.adapters.surroundings.repository import work_tree_above

OVERRIDE = "AGENTS.override.md"
READ_BY_CODEX = (OVERRIDE, "AGENTS.md")
"""In the order of preference; one a directory."""


def chain_bytes(real_path: str, own_bytes: int, home: str | None) -> int:
    """Size of the files that Codex reads down to this one, this one (with `own_bytes`) included; 0 for a file that it
    does not read."""
    directory, name = os.path.split(real_path)
    if name not in READ_BY_CODEX:
        return 0
    codex_home = None if home is None else os.path.realpath(f"{home}/.codex")
    if directory == codex_home:
        return own_bytes
    try:
        top = work_tree_above(directory)
    except OSError:  # it is for a warning alone
        return 0
    if top is None:
        return 0
    above = _directories(os.path.realpath(top), directory)[:-1]
    return own_bytes + sum(map(_size_in, ([codex_home] if codex_home else []) + above))


def overriding(real_path: str) -> str | None:
    """The file beside this one that Codex reads in its place."""
    directory, name = os.path.split(real_path)
    path = f"{directory}/{OVERRIDE}"
    return path if name == READ_BY_CODEX[1] and os.path.isfile(path) else None


def _directories(top: str, bottom: str) -> list[str]:
    """From the top down, both included."""
    found = [bottom]
    while found[-1] != top and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found[::-1]


def _size_in(directory: str) -> int:
    for name in READ_BY_CODEX:
        try:
            return os.stat(f"{directory}/{name}").st_size
        except OSError:
            continue
    return 0
