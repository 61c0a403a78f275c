"""The context of one defrag run: what flows through the machine."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.actions import Deferred, DefragPlan, DefragProposal
from agent_memory.domain.change import Receipt
from agent_memory.domain.entry import Listing, StoredEntry, Usage
from agent_memory.domain.findings import Analysis, Finding
from agent_memory.domain.section import Published
from agent_memory.domain.tiers import TierList
from agent_memory.errors import Error


@frozen
class TieringMemo:
    """What the last tiering was made from, so that nobody is asked the same again. This machine's own, in `runs/`."""

    fingerprint: str = ""
    """Of the live entries and their bytes."""
    agent: str = ""
    judged: frozenset[str] = frozenset()
    """Fingerprints of the findings that the agent has been shown."""
    omitted: Mapping[str, int] = field(factory=dict[str, int])
    """How many tierings in a row have left a hot entry out, by id."""

    def for_agent(self, name: str) -> TieringMemo:
        """The same for the agent that tiered; to another nothing has been shown."""
        return self if self.agent == name else TieringMemo(omitted=self.omitted)


@frozen
class Scan:
    """The store as a run found it."""

    live: Listing
    archive: Listing
    taken_ids: frozenset[str]
    """Every id that is not free, casefolded (`planning.taken_ids`)."""
    usage: Mapping[str, Usage]
    tiers: TierList
    memo: TieringMemo = TieringMemo()
    deferred: tuple[Deferred, ...] = ()
    left_alone: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()


@frozen
class DefragRun:
    """One run. What can be had again (scan, analysis, what was shown) is not part of a checkpoint."""

    id: str
    started_at_ms: int
    dry_run: bool = False
    force: bool = False
    scan: Scan | None = None
    analysis: Analysis | None = None
    live_at_start: int = 0
    asked: bool = False
    """An agent was asked, or a reply that was paid for earlier was found."""
    shown: tuple[StoredEntry, ...] = ()
    """The entries that the agent saw in full."""
    hashes: Mapping[str, str] = field(factory=dict[str, str])
    """Content hash of each live entry as the agent saw it."""
    proposal: DefragProposal | None = None
    reply_key: str | None = None
    plan: DefragPlan = DefragPlan()
    left: tuple[Finding, ...] = ()
    """What the built-in found and left, since it takes judgement."""
    memo: TieringMemo = TieringMemo()
    """To be remembered when the run is done."""
    tiers_before: TierList = TierList()
    tiers: TierList = TierList()
    receipt: Receipt | None = None
    published: Published | None = None
    warnings: tuple[str, ...] = ()
    trouble: Error | None = None
    """Why nobody answered: what needs no answer was done all the same."""
