"""Where sessions took place, read from the file system."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.vocabulary import GLOBAL_SCOPE


@frozen
class PlacesFiles:
    """`Places` over the `.git` files around a directory."""

    environ: Mapping[str, str]

    def scope_of(self, cwd: str | None) -> str:
        """See the port."""
        return GLOBAL_SCOPE if cwd is None else read_repository(cwd, self.environ, home_of(self.environ)).scope


@frozen
class DictPlaces:
    """`Places` in a dict, by directory."""

    scopes: Mapping[str, str]

    def scope_of(self, cwd: str | None) -> str:
        """See the port."""
        return self.scopes.get(cwd or "", GLOBAL_SCOPE)
