"""One search of the whole store for secrets: its files, then what git keeps."""

from __future__ import annotations

from collections.abc import Callable

from returns.result import Failure, Success

from agent_memory.adapters.checkup.secret_files import looked_through
from agent_memory.adapters.checkup.secret_objects import search_objects
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.domain.checkup.secret_search import SecretFind, SecretSearch
from agent_memory.domain.results import sealed
from agent_memory.wording import describe

_SHOWN_EVERY = 500


def search_secrets(root: str, git: GitProcess, progress: Callable[[str], None] = lambda _: None) -> SecretSearch:
    """Everything below the root but what is derived from it, and every object of its repository. Changes nothing."""
    finds: list[SecretFind] = []
    unread: list[str] = []
    files = 0
    for each in looked_through(root):
        if isinstance(each, str):
            unread.append(each)
            continue
        files += 1
        if files % _SHOWN_EVERY == 0:
            progress(f"{files:,} files")
        if each is not None:
            finds.append(each)
    progress("what git keeps")
    match sealed(search_objects(git)):
        case Failure(error):
            return SecretSearch(tuple(finds), files, 0, (*unread, f"git: {describe(error)}"))
        case Success(kept):
            return SecretSearch((*finds, *kept.finds), files, kept.objects, (*unread, *kept.unread))
