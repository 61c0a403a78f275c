"""Whether the store keeps the caps that a person has set on its size."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.planning.run_limits import max_changes


def examine_caps(entries: int, chars: int, *, max_entries: int | None, max_chars: int | None) -> Iterator[Symptom]:
    """A symptom for each cap that this many live entries, and characters of their bodies, are over."""
    how = f"`memory defrag` archives those that matter least, at most {max_changes(entries):,} a run"
    if max_entries is not None and entries > max_entries:
        yield of.SURPLUS.found("limits.maxEntries", f"There are {entries:,} live notes, {max_entries:,} at most; {how}")
    if max_chars is not None and chars > max_chars:
        yield of.SURPLUS.found(
            "limits.maxChars", f"The live notes have {chars:,} characters, {max_chars:,} at most; {how}"
        )
