"""A whole defrag in memory: every adapter is a `Dict…`, and the agent says what the test wants it to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from returns.result import Result, Success

from agent_memory.errors import Error
from agent_memory.note.note import Harness, MemoryEntry, Meta, Origin, Source, StoredEntry, TierList
from agent_memory.pipelines.defrag import DefragIo, defrag
from agent_memory.rules.change import Change, Published, PublishedTarget, SectionChange
from agent_memory.rules.plan import DefragRequest
from agent_memory.rules.run import DefragRun
from agent_memory.section.publishing import KeepSections
from agent_memory.store.run_files import RunLog
from agent_memory.text.ids import mint_id
from stand_ins.dict_clock import DictClock
from stand_ins.dict_locks import DictLocks
from stand_ins.dict_recorder import DictRecorder
from stand_ins.scripted_agent import ScriptedAgent
from stand_ins.temporary_records import TemporaryDefragRecords, TemporaryUsageLedger
from stand_ins.temporary_store import TemporaryStore

TEMPLATE = (Path(__file__).parents[2] / "prompts" / "defrag.md").read_text("utf-8")
NOON_MS = 1_772_409_600_000


def reply(
    *actions: dict[str, Any], hot: Sequence[str] = (), warm: Sequence[str] = ()
) -> Callable[[DefragRequest], str]:
    """An answer with these actions and tiers."""
    tiers = {"hot": list(hot), "warm": list(warm)}
    return lambda request: json.dumps({"version": 1, "nonce": request.nonce, "actions": list(actions), "tiers": tiers})


def run_id(number: int) -> str:
    return f"2026-03-02T00-00-00.000Z_{number:06x}"


@define
class DefragWorld:
    """The adapters of one store, and runs over them."""

    agent: ScriptedAgent[DefragRequest]
    clock: DictClock = field(factory=lambda: DictClock(NOON_MS))
    store: TemporaryStore = field(factory=TemporaryStore)
    ledger: TemporaryUsageLedger = field(factory=TemporaryUsageLedger)
    recorder: DictRecorder = field(factory=DictRecorder)
    records: TemporaryDefragRecords = field(factory=TemporaryDefragRecords)
    sections: list[TierList] = field(factory=list)
    """The tiers of each section that was written."""
    refused: Error | None = None
    words: int = 0
    runs: int = 0

    @property
    def log(self) -> RunLog:
        return RunLog(self.store.root)

    def note(self, title: str, body: str, **meta: Any) -> str:
        """A live note of the person's, written a day apart from the one before; its id."""
        self.clock.at_ms += 86_400_000
        at_ms = self.clock.at_ms
        live = self.store.list().unwrap()
        id = mint_id(title, at_ms, frozenset(each.meta.id.casefold() for each in live.entries))
        source = Source(Harness.CLAUDE_CODE, "s1", turns=(1,))
        given = {"origin": Origin.USER, "description": title, "tags": ("topic__x",), "sources": (source,), **meta}
        entry = MemoryEntry(Meta(id=id, title=title, created_at_ms=at_ms, updated_at_ms=at_ms, **given), body)
        self.store.apply([Change.of(entry)]).unwrap()
        return id

    def io(self) -> DefragIo:
        return DefragIo(
            store=self.store,
            agent=self.agent,
            ledger=self.ledger,
            recorder=self.recorder,
            records=self.records,
            log=self.log,
            locks=DictLocks(),
            clock=self.clock,
            publish=self._publish,
            prompt_template=TEMPLATE,
            random_word=self._word,
        )

    def run(self, *, dry_run: bool = False, force: bool = False) -> DefragRun:
        """A run that completed."""
        return self.try_run(dry_run=dry_run, force=force).unwrap()

    def try_run(self, *, dry_run: bool = False, force: bool = False) -> Result[DefragRun, Error]:
        self.runs += 1
        return defrag(self.io(), DefragRun(run_id(self.runs), self.clock.at_ms, dry_run, force))

    def live(self) -> dict[str, StoredEntry]:
        listing = self.store.list().unwrap()
        return {each.meta.id: self.store.read(each.meta.id).unwrap() for each in listing.entries}

    def tiers(self) -> TierList:
        return self.store.tiers().unwrap()

    def _word(self) -> str:
        self.words += 1
        return f"{self.words:032x}"

    def _publish(self, keep: KeepSections) -> Result[Published, Error]:
        if self.refused is not None:
            return Success(Published((PublishedTarget("/srv/AGENTS.md", "refused", self.refused),)))
        tiers = self.tiers()
        if self.sections and self.sections[-1] == tiers:
            return Success(Published((PublishedTarget("/srv/AGENTS.md", "unchanged"),)))
        before = str(self.sections[-1]) if self.sections else None
        kept = keep([SectionChange("/srv/AGENTS.md", before, str(tiers))])
        self.sections.append(tiers)
        return kept.map(lambda _: Published((PublishedTarget("/srv/AGENTS.md", "written"),)))
