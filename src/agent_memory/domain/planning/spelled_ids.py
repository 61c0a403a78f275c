"""The ids and aliases of live entries as they are spelled, by their casefolded form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from agent_memory.domain.entry_lookup import Found, ids_in
from agent_memory.values import frozen


@frozen
class SpelledIds(Mapping[str, str]):
    """Asked of what a listing knows already: a reply has a few links, and a store 50,000 ids. An id goes before an alias."""

    found: Found

    def __getitem__(self, folded: str) -> str:
        ids = ids_in(self.found.bearers, folded)
        aliases = (alias for id in ids for alias in self.found.by_id[id].meta.aliases)
        for spelled in chain(ids, aliases):
            if spelled.casefold() == folded:
                return spelled
        raise KeyError(folded)

    def __iter__(self) -> Iterator[str]:
        return iter(self.found.bearers)

    def __len__(self) -> int:
        return len(self.found.bearers)
