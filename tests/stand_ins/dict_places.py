"""Places in a dict."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.vocabulary import GLOBAL_SCOPE


@frozen
class DictPlaces:
    """`Places` in a dict, by directory."""

    scopes: Mapping[str, str]

    def scope_of(self, cwd: str | None) -> str:
        return self.scopes.get(cwd or "", GLOBAL_SCOPE)
