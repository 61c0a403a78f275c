"""The story of an entry, from the store, the ledger, the runs and git."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, Meta, StoredEntry, Usage, reads_of
from agent_memory.domain.explaining.entry_story import Chapter, EntryStory, Revision, chapters_of
from agent_memory.domain.explaining.tier_reason import TierStanding
from agent_memory.domain.explaining.unread import unread_notes, unread_runs
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.tiering.resolve import shares_a_section
from agent_memory.domain.tiering.score import score
from agent_memory.domain.tiering.standing import best_tier
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryNotFound, EntryProtected, Error
from agent_memory.ports import Clock, RunLog, Store, UsageLedger
from agent_memory.results import sealed
from agent_memory.wording import describe

T = TypeVar("T")

MOST_RUNS = 5_000
"""About a year of them."""

MOST_REVISIONS = 50


@frozen
class _Shelf:
    """The store around the entry."""

    live: Mapping[str, Listed]
    archive: Mapping[str, Listed]
    totals: Mapping[str, Usage]
    tiers: TierList
    unread: tuple[str, ...]

    @property
    def everything(self) -> Iterable[Listed]:
        return (*self.live.values(), *self.archive.values())

    def usage_of(self, meta: Meta) -> Usage:
        return reads_of(meta, self.totals)


@frozen
class EntryStories:
    """Looks; changes and counts nothing."""

    store: Store
    ledger: UsageLedger
    log: RunLog
    clock: Clock
    caller: Caller
    revisions_of: Callable[[str, int], Result[tuple[Revision, ...], Error]]
    """The newest commits that touched a path, at most so many."""

    def story(self, id: str) -> Result[EntryStory, Error]:
        """The story of the live entry with this id or alias, else of the archived one. EntryProtected where an agent asks
        for what is secret. A run log or a repository that cannot be read takes its part of the story away, and is named, as is each note and run that cannot be."""
        return self._stored(id).bind(
            lambda stored: self._permitted(id, stored).bind(
                lambda _: self._shelf().map(lambda shelf: self._told(id, stored, shelf))
            )
        )

    def _stored(self, id: str) -> Result[StoredEntry, Error]:
        live = self.store.read(id)
        if isinstance(live, Failure) and live.failure() == EntryNotFound(id, archived=True):
            return self.store.read(id, archived=True)
        return live

    def _permitted(self, id: str, stored: StoredEntry) -> Result[None, Error]:
        if stored.meta.sensitivity is Sensitivity.SECRET and self.caller.is_agent:
            return Failure(EntryProtected(id, "an explanation", "secret"))
        return Success(None)

    def _shelf(self) -> Result[_Shelf, Error]:
        return Result.do(
            _Shelf(_by_id(live.entries), _by_id(archive.entries), totals, tiers, unread_notes(live, archive))
            for live in self.store.list()
            for archive in self.store.list(archived=True)
            for totals in self.ledger.totals()
            for tiers in self.store.tiers()
        )

    def _told(self, asked: str, stored: StoredEntry, shelf: _Shelf) -> EntryStory:
        meta = stored.meta
        runs, no_runs = _or_why_not(self.log.runs(MOST_RUNS))
        revisions, no_revisions = _or_why_not(self.revisions_of(stored.listed.path, MOST_REVISIONS))
        chapters = chapters_of(frozenset((meta.id, *meta.aliases)), runs)
        return EntryStory(
            asked=asked,
            stored=stored,
            usage=shelf.usage_of(meta),
            standing=self._standing(stored, shelf, _tiers_since(meta, chapters, runs), known=not no_runs),
            chapters=chapters,
            revisions=revisions,
            merged=tuple(shelf.archive[id] for id in meta.aliases if id in shelf.archive),
            supersedes=tuple(each for each in shelf.everything if each.meta.id in meta.supersedes),
            superseded_by=tuple(each for each in shelf.everything if meta.id in each.meta.supersedes),
            unread=(*no_runs, *no_revisions, *unread_runs(runs), *shelf.unread),
        )

    def _standing(self, stored: StoredEntry, shelf: _Shelf, since: bool | None, *, known: bool) -> TierStanding:
        meta, now_ms = stored.meta, self.clock.now_ms()
        rivals = (shelf.live[id].meta for id in shelf.tiers.hot if id in shelf.live and id != meta.id)
        scores = [
            score(each, shelf.usage_of(each), now_ms)
            for each in rivals
            if not each.pinned and shares_a_section(meta, each)
        ]
        return TierStanding(
            meta=meta,
            tier=Tier.HOT if meta.pinned and best_tier(meta) is Tier.HOT else shelf.tiers.of(meta.id),
            usage=shelf.usage_of(meta),
            now_ms=now_ms,
            archived=stored.listed.archived,
            tiers_decided=since is not None or not known,
            decided_since=since is not False,
            weakest_hot=min(scores, default=None),
        )


def _by_id(entries: Iterable[Listed]) -> dict[str, Listed]:
    return {each.meta.id: each for each in entries}


def _tiers_since(meta: Meta, chapters: Iterable[Chapter], runs: Iterable[LoggedRun]) -> bool | None:
    """Whether a defrag has looked at the store since the entry was written; None where there was no defrag at all."""
    tierings = [run.started_at_ms for run in runs if run.machine == "defrag" and run.result == "completed"]
    if not tierings:
        return None
    written = [each.at_ms for each in chapters if meta.id in each.new_ids]
    return max(tierings) >= max(written, default=meta.created_at_ms)


def _or_why_not(result: Result[tuple[T, ...], Error]) -> tuple[tuple[T, ...], tuple[str, ...]]:
    match sealed(result):
        case Success(found):
            return found, ()
        case Failure(error):
            return (), (describe(error),)
