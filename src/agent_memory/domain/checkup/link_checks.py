"""Links and ids between entries, as far as an analysis of bodies does not tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

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


def examine_references(live: Iterable[Listed], archived: frozenset[str]) -> Iterator[Symptom]:
    """Aliases that lead to two places, and superseded entries that nobody has."""
    entries = tuple(live)
    by_id = {each.meta.id: each for each in entries}
    holders: dict[str, list[Listed]] = defaultdict(list)
    for each in entries:
        for alias in each.meta.aliases:
            holders[alias].append(each)
    for alias, claiming in holders.items():
        owner = by_id.get(alias)
        others = claiming if owner is not None else claiming[1:]
        first = owner or claiming[0]
        for each in others:
            if each is not first:
                yield of.ALIAS_CLASH.found(
                    each.path, f"Its alias {alias} belongs to {first.path} too; take it out of one of them"
                )
    for each in entries:
        for id in each.meta.supersedes:
            if id not in by_id and id not in archived and id not in holders:
                yield of.UNKNOWN_SUPERSEDED.found(each.path, f"It supersedes {id}, which is nowhere")
