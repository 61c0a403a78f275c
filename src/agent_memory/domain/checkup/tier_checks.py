"""The tier list and the targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed, UnreadableFile
from agent_memory.domain.section import Published
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.wording import describe

TIERS_FILE = "state/tiers.json"


def examine_tiers(
    tiers: TierList, live: Sequence[Listed], unreadable: Sequence[UnreadableFile] = ()
) -> Iterator[Symptom]:
    """Ids that are no live entries, nor in the name of a file that cannot be read, and pins that are not hot. An empty list
    is one that no defrag has made yet."""
    ids = {*(each.meta.id for each in live), *(id_in_name(each.path.rpartition("/")[2]) for each in unreadable)}
    for id in (*tiers.hot, *tiers.warm):
        if id not in ids:
            yield of.TIERS_UNKNOWN_ID.found(
                TIERS_FILE, f"It names {id}, which is no live note; the next defrag drops it"
            )
    if not (tiers.hot or tiers.warm):
        return
    for each in pinned_outside(tiers, live):
        yield of.PINNED_NOT_HOT.found(each.path, "It is pinned and not hot; the next defrag makes it so")


def pinned_outside(tiers: TierList, live: Sequence[Listed]) -> tuple[Listed, ...]:
    """Pinned entries that may be hot and are not, in the order of the listing."""
    return tuple(
        each
        for each in live
        if each.meta.pinned and each.meta.sensitivity is not Sensitivity.SECRET and each.meta.id not in tiers.hot
    )


def with_pins(tiers: TierList, pinned: Sequence[str]) -> TierList:
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
