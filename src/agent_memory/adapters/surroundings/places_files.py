"""Where sessions took place, read from the file system."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.values import frozen


@frozen
class PlacesFiles:
    """`Places` over the `.git` files around a directory."""

    environ: Mapping[str, str]

    def scope_of(self, cwd: str | None) -> str:
        """See the port."""
        if cwd is None:
            return GLOBAL_SCOPE
        # It stands in notes, and so in git: a directory's name may hold a secret like any other text.
        return redact_path(read_repository(cwd, self.environ, home_of(self.environ)).scope)


@frozen
class DictPlaces:
    """`Places` in a dict, by directory."""

    scopes: Mapping[str, str]

    def scope_of(self, cwd: str | None) -> str:
        """See the port."""
        return self.scopes.get(cwd or "", GLOBAL_SCOPE)
