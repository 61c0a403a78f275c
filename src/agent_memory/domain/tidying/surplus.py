"""What is over the caps that a person has set on the size of the store (`limits.maxEntries`, `limits.maxChars`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.entry_reads import reads_of
from agent_memory.domain.findings import Finding, FindingKind, Profile
from agent_memory.domain.planning.run_limits import max_changes
from agent_memory.domain.tiering.score import score
from agent_memory.domain.vocabulary import Sensitivity


def surplus(
    live: Iterable[Listed],
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
    entries = tuple(live)
    count = len(entries)
    chars = sum(_chars(each, profiles) for each in entries)
    if not _is_over(count, max_entries) and not _is_over(chars, max_chars):
        return ()
    going: list[Finding] = []
    for each in sorted(filter(_may_go, entries), key=lambda each: _value(each, usage, now_ms)):
        if len(going) == max_changes(len(entries)):
            break
        if max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(entries):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        worth = f"it is among those that matter least by importance, use and age (score {score_of(each, usage, now_ms):.2f})"
        going.append(Finding(FindingKind.SURPLUS, (each.meta.id,), f"{why}; {worth}"))
        count -= 1
        chars -= _chars(each, profiles)
    return tuple(going)


def score_of(listed: Listed, usage: Mapping[str, Usage], now_ms: int) -> float:
    """The score of an entry by the ledger, or by its frontmatter where the ledger does not know it."""
    return score(listed.meta, reads_of(listed.meta, usage), now_ms)


def _is_over(size: int, limit: int | None) -> bool:
    return limit is not None and size > limit


def _chars(listed: Listed, profiles: Mapping[str, Profile]) -> int:
    profile = profiles.get(listed.meta.id)
    return 0 if profile is None else profile.body_chars


def _may_go(listed: Listed) -> bool:
    meta = listed.meta
    is_kept = meta.pinned or meta.promoted_by is not None or meta.sensitivity is Sensitivity.SECRET
    return not is_kept and not listed.conflicted and not listed.provisional_id


def _value(listed: Listed, usage: Mapping[str, Usage], now_ms: int) -> tuple[float, int, str]:
    return (score_of(listed, usage, now_ms), listed.meta.updated_at_ms, listed.meta.id)
