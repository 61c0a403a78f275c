"""Links and ids between entries, as far as an analysis of bodies does not tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed


def examine_links(
    path: str, targets: Iterable[str], known: frozenset[str], archived: frozenset[str]
) -> Iterator[Symptom]:
    """Links of one note to entries that only the archive has. `known`: live ids and aliases."""
    for target in targets:
        if target in archived and target not in known:
            yield of.ARCHIVED_LINK.found(
                path,
                f"It links to {target}, which is archived; `memory read {target} --archived` shows it",
            )


def examine_references(live: Sequence[Listed], archived: frozenset[str]) -> Iterator[Symptom]:
    """Aliases that lead to two places, and superseded entries that nobody has."""
    claims: dict[str, list[str]] = defaultdict(list)
    for each in live:
        for alias in each.meta.aliases:
            claims[alias].append(each.path)
    path_of = {each.meta.id: each.path for each in live}
    clashes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for alias, claiming in claims.items():
        first = path_of.get(alias, claiming[0])
        for path in claiming:
            if path != first:
                clashes[path, first].append(alias)
    for (path, first), shared in clashes.items():
        more = f" and {len(shared) - 1:,} more belong" if len(shared) > 1 else " belongs"
        yield of.ALIAS_CLASH.found(path, f"Its alias {shared[0]}{more} to {first} too; take it out of one of them")
    for each in live:
        for id in each.meta.supersedes:
            if id not in path_of and id not in archived and id not in claims:
                yield of.UNKNOWN_SUPERSEDED.found(each.path, f"It supersedes {id}, which is nowhere")
