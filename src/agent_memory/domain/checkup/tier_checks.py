"""The tier list and the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed
from agent_memory.domain.section import Published
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.wording import describe

TIERS_FILE = "state/tiers.json"


def examine_tiers(tiers: TierList, live: Mapping[str, Listed]) -> Iterator[Symptom]:
    """Ids that are no live entries, and pins that are not hot. An empty list is one that no defrag has made yet."""
    for id in (*tiers.hot, *tiers.warm):
        if id not in live:
            yield of.TIERS_UNKNOWN_ID.found(
                TIERS_FILE, f"It names {id}, which is no live note; the next defrag drops it"
            )
    if not (tiers.hot or tiers.warm):
        return
    for id in pinned_outside(tiers, live):
        yield of.PINNED_NOT_HOT.found(live[id].path, "It is pinned and not hot; the next defrag makes it so")


def pinned_outside(tiers: TierList, live: Mapping[str, Listed]) -> tuple[str, ...]:
    """Pinned entries that may be hot and are not, by id, in the order of the listing."""
    hot = frozenset(tiers.hot)
    return tuple(
        id
        for id, each in live.items()
        if each.meta.pinned and each.meta.sensitivity is not Sensitivity.SECRET and id not in hot
    )


def with_pins(tiers: TierList, pinned: tuple[str, ...]) -> TierList:
    """The tier list with these ids at the end of what is hot."""
    added = tuple(id for id in pinned if id not in tiers.hot)
    return TierList((*tiers.hot, *added), tuple(id for id in tiers.warm if id not in added))


def examine_targets(published: Published) -> Iterator[Symptom]:
    """What a dry run of publishing says of each target."""
    for target in published.targets:
        if target.outcome == "planned":
            yield of.TARGET_OUT_OF_DATE.found(
                target.path, "Its section is not what it would be now; `memory generate-agents-md` writes it"
            )
        elif target.error is not None:
            yield of.TARGET_REFUSED.found(target.path, describe(target.error).rstrip("."))
        rendered = target.rendered.warnings if target.rendered is not None else ()
        for warning in dict.fromkeys((*target.warnings, *rendered)):
            yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))
