"""What is over the caps that a person has set on the size of the store (`limits.maxEntries`, `limits.maxChars`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.findings import Finding, FindingKind, Profile
from agent_memory.domain.planning.run_limits import max_changes
from agent_memory.domain.tidying.tier_choice import is_lasting_word
from agent_memory.domain.tiering.tier_columns import tier_columns
from agent_memory.domain.vocabulary import Sensitivity


def surplus(
    live: Sequence[Listed],
    profiles: Mapping[str, Profile],
    usage: Mapping[str, Usage],
    *,
    max_entries: int | None,
    max_chars: int | None,
    now_ms: int,
) -> tuple[Finding, ...]:
    """What has to leave a live set so that it keeps its caps, the least valuable first, as much as one run may archive.

    Pinned, promoted, secret and conflicted entries are never among it, so that a store of nothing else stays over its
    cap. Of an entry without a profile the characters do not count.
    """
    if max_entries is None and max_chars is None:
        return ()
    sizes = {each.meta.id: profiles[each.meta.id].body_chars if each.meta.id in profiles else 0 for each in live}
    count, chars = len(live), sum(sizes.values())
    if not _is_over(count, max_entries) and not _is_over(chars, max_chars):
        return ()
    going: list[Finding] = []
    for score, id in _least_valuable_first(live, tier_columns(live, usage, now_ms).scores):
        if len(going) == max_changes(len(live)):
            break
        if max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(live):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        worth = f"it is among those that matter least by importance, use and age (score {score:.2f})"
        going.append(Finding(FindingKind.SURPLUS, (id,), f"{why}; {worth}"))
        count -= 1
        chars -= sizes[id]
    return tuple(going)


def _is_over(size: int, limit: int | None) -> bool:
    return limit is not None and size > limit


def _least_valuable_first(live: Sequence[Listed], scores: Sequence[float]) -> list[tuple[float, str]]:
    """The scores and ids of those that may go: however old, what a person said that lasts goes after all that only an agent
    noted."""
    ranked = sorted(
        (
            is_lasting_word(each.meta.origin, each.meta.kind, each.meta.importance),
            score,
            each.meta.updated_at_ms,
            each.meta.id,
        )
        for each, score in zip(live, scores, strict=True)
        if _may_go(each)
    )
    return [(score, id) for _, score, _, id in ranked]


def _may_go(each: Listed) -> bool:
    meta = each.meta
    is_kept = meta.pinned or meta.promoted_by is not None or meta.sensitivity is Sensitivity.SECRET
    return not is_kept and not each.conflicted and not each.provisional_id
