"""A store on disk with its log and targets, runs that change it, and undo over all of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from attrs import define, evolve, field
from returns.result import Result, Success

from agent_memory.errors import Error
from agent_memory.note.note import MemoryEntry, Meta, StoredEntry, TierList
from agent_memory.pipelines.undo import UndoIo, Undone, undo
from agent_memory.rules.change import Change, ChangeGroup
from agent_memory.rules.run_log import LoggedAction, LoggedRun, Machine, logged_actions
from agent_memory.rules.undo_run import SectionChange
from agent_memory.section.section_splice import splice_section
from agent_memory.section.targets import Targets
from agent_memory.store.run_files import RunLog
from agent_memory.store.store_files import Store
from agent_memory.text.instants import iso_of
from stand_ins.dict_clock import DictClock
from stand_ins.dict_locks import DictLocks
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary_records import TemporaryDefragRecords

_LITTER = re.compile(r"/\.cache/|/\.transaction/|/\.tmp-|\.agent-memory-[0-9a-f]+$|/agent-memory/sections/")
"""Derived files, and what a crash leaves until somebody tidies up."""

NOON_MS = 1_772_409_600_000
SECTION = "<!-- agent-memory:start -->\n## Memory of earlier sessions\n\n{}\n<!-- agent-memory:end -->"


def entry(letter: str, body: str, title: str = "") -> MemoryEntry:
    meta = Meta(f"id__aaaaa{letter}", title or f"Note {letter}", NOON_MS, NOON_MS)
    return MemoryEntry(meta, body)


@define
class World:
    """One root below a directory of the test."""

    home: Path
    clock: DictClock = field(factory=lambda: DictClock(NOON_MS))
    recorder: DictRecorder = field(factory=DictRecorder)
    records: TemporaryDefragRecords = field(factory=TemporaryDefragRecords)
    finished: list[str] = field(factory=list)

    @property
    def root(self) -> Path:
        return self.home / "memories"

    @property
    def target(self) -> Path:
        return self.home / "AGENTS.md"

    @property
    def log(self) -> RunLog:
        return RunLog(self.root)

    @property
    def store(self) -> Store:
        return Store(self.root, DictLocks())

    def io(self) -> UndoIo:
        return UndoIo(
            store=self.store,
            log=self.log,
            targets=Targets(str(self.home), str(self.root)),
            recorder=self.recorder,
            records=self.records,
            clock=self.clock,
            finish_interrupted=self.finish,
            new_run_id=self.run_id,
        )

    def finish(self) -> Result[None, Error]:
        self.finished.append("asked")
        return Success(None)

    def run_id(self, now_ms: int) -> str:
        self.clock.at_ms += 60_000
        return f"{iso_of(now_ms).replace(':', '-')}_{(self.clock.at_ms - NOON_MS) // 60_000:06x}"

    # -- runs ---------------------------------------------------------------------------------------------------------

    def run(
        self,
        *changes: Change | ChangeGroup,
        tiers: TierList | None = None,
        machine: Machine = "consolidate",
        section: str | None = None,
        actions: Sequence[LoggedAction] = (),
    ) -> str:
        """A run that makes these changes and, where asked, puts a section into the target; its id."""
        run_id = self.run_id(self.clock.at_ms)
        receipt = self.store.apply(changes, tiers=tiers, run_id=run_id).unwrap()
        assert receipt.dropped == ()
        if section is not None:
            self.publish(run_id, section)
        done = tuple(actions) or logged_actions(receipt.applied)
        self.log.put_report(
            LoggedRun(run_id, machine, self.clock.at_ms, self.clock.at_ms, "completed", f"{len(done)} done", done)
        ).unwrap()
        return run_id

    def publish(self, run_id: str, words: str) -> None:
        there = self.target.exists()
        spliced = splice_section(str(self.target), self.target.read_bytes() if there else b"", SECTION.format(words))
        change = SectionChange(str(self.target), spliced.before, spliced.after, spliced.separator, not there)
        self.log.put_sections(run_id, [change]).unwrap()
        self.target.write_bytes(spliced.data)

    def create(self, letter: str, body: str = "Words.") -> Change:
        return Change.of(entry(letter, body))

    def replace(self, letter: str, body: str) -> Change:
        stored = self.stored(letter)
        self.clock.at_ms += 1
        meta = evolve(stored.meta, updated_at_ms=self.clock.at_ms)
        return Change.of(MemoryEntry(meta, body), stored.listed.content_hash)

    def retire(self, letter: str) -> Change:
        return Change.retire(f"id__aaaaa{letter}", self.stored(letter).listed.content_hash)

    def merge(self, one: str, other: str, into: str, body: str) -> ChangeGroup:
        """Two notes become one that answers to their ids."""
        ids = (f"id__aaaaa{one}", f"id__aaaaa{other}")
        merged = entry(into, body)
        aliased = evolve(merged, meta=evolve(merged.meta, aliases=ids))
        return ChangeGroup("merge", (self.retire(one), self.retire(other), Change.of(aliased)))

    def stored(self, letter: str) -> StoredEntry:
        return self.store.read(f"id__aaaaa{letter}").unwrap()

    def path(self, letter: str) -> Path:
        return self.root / self.stored(letter).listed.path

    # -- undo ---------------------------------------------------------------------------------------------------------

    def result(self, name: str | None = None, *, dry_run: bool = False) -> Result[Undone, Error]:
        return undo(self.io(), name, dry_run=dry_run)

    def undo(self, name: str | None = None) -> Undone:
        return self.result(name).unwrap()

    def refused(self, name: str | None = None) -> str:
        """Why an undo was refused; nothing at all may differ by it."""
        before = self.everything()
        error = self.result(name).failure()
        assert (error.code, error.exit_code) == ("undo-refused", 20), error
        assert self.everything() == before
        return "; ".join(error.reasons)  # type: ignore[attr-defined]

    # -- looks --------------------------------------------------------------------------------------------------------

    def tree(self) -> dict[str, str]:
        """A hash of every file that an undo has to restore: notes, archive, tiers, targets (P16)."""
        return {path: each for path, each in self.everything().items() if not path.startswith("memories/runs/")}

    def everything(self) -> dict[str, str]:
        found = (each for each in self.home.rglob("*") if each.is_file())
        return {
            path: hashlib.sha256(each.read_bytes()).hexdigest()
            for each in found
            if not _LITTER.search(path := str(each.relative_to(self.home)))
        }
