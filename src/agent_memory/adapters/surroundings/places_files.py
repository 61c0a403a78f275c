"""Where sessions took place, read from the file system."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from agent_memory.adapters.surroundings.repository import Repository, read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.vocabulary import GLOBAL_SCOPE

_SHORTEST_SECRET_CHARS = 15
"""Of a rule that needs nothing around it but letters, digits and what stands in names."""
_USUAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:")


@frozen
class PlacesFiles:
    """`Places` over the `.git` files around a directory. `arrive` is told of each place that is looked at."""

    environ: Mapping[str, str]
    arrive: Callable[[Repository], None] = lambda _: None

    def scope_of(self, cwd: str | None) -> str:
        """See the port."""
        if cwd is None:
            return GLOBAL_SCOPE
        repository = read_repository(cwd, self.environ, home_of(self.environ))
        self.arrive(repository)
        return redacted_scope(repository.scope)


def redacted_scope(scope: str) -> str:
    """It stands in notes, and so in git: a directory's name may hold a secret like any other text."""
    if is_too_plain(scope):
        return scope
    from agent_memory.domain.redacted_path import redact_path  # loading all its rules takes longer than a search

    return redact_path(scope)


def is_too_plain(scope: str) -> bool:
    """Whether every part is too short, and its characters too usual, for any rule of redaction."""
    place = scope.removeprefix("path:")
    is_usual = ":" not in place and "--" not in place and not set(place) - _USUAL
    return is_usual and all(len(part) < _SHORTEST_SECRET_CHARS for part in place.split("/"))
