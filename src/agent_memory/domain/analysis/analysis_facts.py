"""What an analysis depends on besides the entries."""

from __future__ import annotations

from collections.abc import Container, Mapping

from agent_memory.domain.entry import Usage
from agent_memory.values import field, frozen


@frozen
class AnalysisFacts:
    """All that an analysis may depend on besides the entries themselves."""

    now_ms: int
    taken_ids: Container[object] = frozenset[str]()
    """Every id that is not free, casefolded: live ones, aliases, archived ones (`planning.taken_ids`). The ids and aliases
    of the entries that are analysed count as taken anyway."""
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    """Reads by id; an entry that is not in it has the reads of its frontmatter."""
    stale_days: int = 120
    left_alone: frozenset[str] = frozenset()
    """Entries that changed in 3 of the last 10 runs. They are in no finding that asks for another rewrite: only
    contradictions and dangling links name them, which are wrong however often they are touched."""
    hot_or_new: frozenset[str] = frozenset()
    """Entries of which time alone makes nothing, since they are read uncounted or came into the store lately: they are not
    stale, and no orphans."""
