"""Branches that are not merged: `.cache/unmerged.json` holds those of each project, as the last run found them, so that nobody
has to ask git who reads a note, or tells it to an agent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from agent_memory.capture.places import git_says, redacted_scope
from agent_memory.capture.repository import read_repository
from agent_memory.files.durable import make_directories, read_loosely, replace_file
from agent_memory.note.note import Listed, Source
from agent_memory.recall.start_cache import UNMERGED
from agent_memory.text.json_shape import is_list, is_object

_MAX_BYTES = 4 << 20
TRUNKS = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")

Unmerged = Mapping[str, frozenset[str]]
"""The branches of each project that are not merged, by scope."""


def unmerged_branches(root: str) -> Unmerged:
    """Returns the branches that were not merged when the last run looked; none where nobody did."""
    try:
        found = json.loads(read_loosely(f"{root}/{UNMERGED}", _MAX_BYTES))
    except (ValueError, RecursionError):
        return {}
    rows = found.items() if is_object(found) else ()
    return {
        scope: frozenset(each for each in names if isinstance(each, str)) for scope, names in rows if is_list(names)
    }


def branch_mark(sources: Sequence[Source], unmerged: Unmerged) -> str:
    """Returns `branch x, not found in main` for a note that comes from unmerged branches alone, else nothing. Git cannot tell a
    branch that was squashed into main from one that never was merged."""
    branches = [each.branch for each in sources if each.branch in unmerged.get(each.repo or "", ())]
    return f"branch {branches[0]}, not found in main" if branches and len(branches) == len(sources) else ""


def look_for_unmerged(root: str, notes: Iterable[Listed], environ: Mapping[str, str]) -> None:
    """Asks the repositories of all notes with a branch which branches are not merged, and keeps the answer. What cannot be asked
    or kept is not known; then no note is marked."""
    sources = [each for note in notes for each in note.meta.sources if each.branch and each.repo and each.cwd]
    found: dict[str, list[str]] = {}
    for repo, cwd in list({each.repo: each.cwd for each in sources}.items())[-100:]:
        here = read_repository(cwd or "", environ)
        if here.common is not None and repo is not None and redacted_scope(here.scope) == repo:
            found[repo] = sorted(_unmerged_in(here.common))
    data, path = json.dumps(found, ensure_ascii=False).encode(), f"{root}/{UNMERGED}"
    if data == (read_loosely(path, _MAX_BYTES) or b"{}"):  # what was prepared for hooks stays good
        return
    try:
        make_directories(f"{root}/.cache")
        replace_file(path, data, is_durable=False)
    except OSError:
        return


def _unmerged_in(common: str) -> frozenset[str]:
    """Returns the branches that are in no main branch, here or at the remote. One whose remote branch was deleted counts as
    merged, since that is what happens to it after a squash."""
    shown = "--format=%(refname)%09%(upstream:track)"
    answers = [
        git_says(common, "for-each-ref", f"--no-merged={trunk}", shown, "refs/heads", "refs/remotes")
        for trunk in TRUNKS
    ]
    lists = [
        frozenset(
            _branch(ref) for ref, _, track in (line.partition("\t") for line in each.splitlines()) if track != "[gone]"
        )
        for each in answers
        if each is not None
    ]
    return lists[0].intersection(*lists[1:]) if lists else frozenset[str]()


def _branch(ref: str) -> str:
    """Returns `fix/x` of `refs/heads/fix/x` and of `refs/remotes/origin/fix/x`."""
    return ref.split("/", 2 if ref.startswith("refs/heads/") else 3)[-1]
