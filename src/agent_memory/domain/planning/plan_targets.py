"""Which ids and links the entries of one plan may use."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from attrs import frozen

from agent_memory.domain.change import Dropped
from agent_memory.domain.entry_lookup import Found, ids_in
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.planning.linking import Targets
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.same_body import body_hash
from agent_memory.domain.planning.taken_ids import TakenBesides

_MAX_TARGET_CHARS = 80


def taken_ids(facts: PlanFacts, so_far: Plan) -> TakenBesides:
    """Every id that is not free, casefolded: of the store, and planned by earlier windows."""
    return TakenBesides(facts.taken_ids, planned_entries(so_far))


def link_targets(by_ref: Mapping[str, str], new: Iterable[str], facts: PlanFacts, so_far: Plan) -> Targets:
    """What a link may point at: refs of the reply, its `new` ids, earlier windows' entries and the store's."""
    ids = (*planned_entries(so_far), *new)
    planned = dict(zip(map(str.casefold, ids), ids, strict=True))
    live = ChainMap(planned, SpelledIds(facts.found))  # type: ignore[arg-type]  # its types are those of maps to be written
    return Targets(by_ref, live, taken_ids(facts, so_far))


def id_with_body(body: str, facts: PlanFacts, so_far: Plan) -> str | None:
    """The planned or live entry whose body is the same; None where there is none."""
    wanted = body_hash(body)
    planned = planned_entries(so_far)
    here = (id for id, entry in planned.items() if body_hash(entry.body) == wanted)
    same = [each for each in facts.live if each.body_hash == wanted]
    live = (each.meta.id for each in same if each.meta.id not in planned)
    return next((id for ids in (here, live) for id in ids), None)


def unlinked(subject: str, unknown: Iterable[str]) -> list[Dropped]:
    """What a report says of the links of one entry that lead nowhere."""
    links = tuple(
        f"a link to {stored_line(target, _MAX_TARGET_CHARS)} leads nowhere and was left out" for target in unknown
    )
    return [Dropped(subject, links)] if links else []


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
