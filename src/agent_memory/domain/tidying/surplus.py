"""What is over the caps that a person has set on the size of the store (`limits.maxEntries`, `limits.maxChars`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.findings import Finding, FindingKind, Profile
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.planning.run_limits import max_changes
from agent_memory.domain.row_answers import row_answers
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
    ids = [each.meta.id for each in live]
    sizes = [profiles[id].body_chars if id in profiles else 0 for id in ids]
    count, chars = len(ids), sum(sizes)
    if not _is_over(count, max_entries) and not _is_over(chars, max_chars):
        return ()
    scores = tier_columns(live, usage, now_ms).scores
    going: list[Finding] = []
    for row in _least_valuable_first(live, ids, scores):
        if len(going) == max_changes(len(ids)):
            break
        if max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(ids):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        worth = f"it is among those that matter least by importance, use and age (score {scores[row]:.2f})"
        going.append(Finding(FindingKind.SURPLUS, (ids[row],), f"{why}; {worth}"))
        count -= 1
        chars -= sizes[row]
    return tuple(going)


def _is_over(size: int, limit: int | None) -> bool:
    return limit is not None and size > limit


def _least_valuable_first(live: Sequence[Listed], ids: Sequence[str], scores: Sequence[float]) -> list[int]:
    """The places of those that may go: however old, what a person said that lasts goes after all that only an agent noted."""
    fields = ("meta.pinned", "meta.promoted_by", "meta.sensitivity", "conflicted", "provisional_id")
    may_go = row_answers(_may_go, *(column_of(live, each) for each in fields))
    rows = list(compress(range(len(ids)), may_go))
    lasting = row_answers(
        is_lasting_word, *(column_of(live, f"meta.{each}") for each in ("origin", "kind", "importance"))
    )
    for column in (ids, [each.meta.updated_at_ms for each in live], scores, lasting):  # what counts most comes last
        rows.sort(key=column.__getitem__)
    return rows


def _may_go(
    pinned: bool, promoted_by: str | None, sensitivity: Sensitivity, conflicted: bool, provisional_id: bool
) -> bool:
    is_kept = pinned or promoted_by is not None or sensitivity is Sensitivity.SECRET
    return not is_kept and not conflicted and not provisional_id
