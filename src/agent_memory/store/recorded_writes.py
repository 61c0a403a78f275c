"""Changes with their record and publication: the end of every act on single notes, tags, state and scopes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager

from attrs import frozen
from returns.result import Result, Success

from agent_memory.caller import Caller
from agent_memory.errors import EntryChanged, Error, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import Listed, MemoryEntry, Meta, Tier, TierList
from agent_memory.ports import Clock, Recorder
from agent_memory.results import unwrap, warning_of
from agent_memory.rules.change import Change, ChangeGroup, Published, Receipt, SectionChange
from agent_memory.rules.run_log import LoggedRun, RunKind, logged_actions
from agent_memory.store.run_files import RunLog
from agent_memory.store.store_files import Store


@frozen
class RecordedWrites:
    """Applies changes for a caller. `warn` gets trouble with git or a target; `publish` updates the managed sections."""

    store: Store
    recorder: Recorder
    locks: Locks
    caller: Caller
    warn: Callable[[str], None]
    publish: Callable[[], Result[Published, Error]] = lambda: Success(Published())

    @contextmanager
    def act(self) -> Generator[None, None, None]:
        """Holds the write lock, then updates the targets; their trouble is a warning."""
        with self.locks.write():
            yield
        published = self.publish()
        self.tolerate(published)
        for target in published.map(lambda done: done.refused).value_or(()):
            if target.error is not None:
                self.warn(str(target.error))

    def apply(self, subject: str, *changes: Change, tiers: TierList | None = None) -> None:
        """Applies the changes as one and records them under one write lock, so that no other process takes them for a
        person's; a person's earlier edits of the same files are first recorded as theirs."""
        with self.locks.write():
            before = [
                self.store.read(each.id, archived=each.act == "restore") for each in changes if each.act != "create"
            ]
            there = [found.unwrap().listed.path for found in before if isinstance(found, Success)]
            if there:
                self.tolerate(self.recorder.adopt_hand_edits(there))
            receipt = unwrap(self.store.apply([ChangeGroup(changes[0].id, changes)], tiers=tiers))
            if not receipt.applied:
                raise EntryChanged(changes[0].id)
            self.tolerate(self.recorder.record(receipt.touched, subject, self.caller.signature))

    def rewrite(self, notes: Iterable[Listed], change: Callable[[Meta], Meta], run_id: str | None = None) -> Receipt:
        """Changes the frontmatter of these notes in one transaction. `updatedAt` stays: the knowledge did not change."""
        changes: list[Change] = []
        for each in notes:
            stored = unwrap(self.store.read(each.meta.id))
            changes.append(Change.of(MemoryEntry(change(stored.meta), stored.body), stored.listed.content_hash))
        return unwrap(self.store.apply(changes, run_id=run_id))

    def tolerate(self, done: Result[object, Error]) -> None:
        """Turns trouble with git into a warning: git is history, not durability (P4)."""
        for warning in warning_of(done):
            self.warn(warning)

    # -- tiers ----------------------------------------------------------------------------------------------------------

    def retiering(self, change: Callable[[TierList], TierList]) -> TierList | None:
        """Returns the tier list to write; None if it is unchanged or damaged: notes that a person vouches for are shown
        without it, archived ones never. An unreadable one is an error: the act can be repeated (P5)."""
        try:
            tiers = unwrap(self.store.tiers())
        except StoreIo:
            raise
        except Error as error:
            self.warn(str(error))
            return None
        changed = change(tiers)
        return None if changed == tiers else changed

    def telling(self, meta: Meta, replaced: Sequence[str] = ()) -> TierList | None:
        """Returns the tier list with a new or restored note, so that the managed sections show it, and without those
        that it replaces; None if unchanged. Trouble with the list is only a warning: the note matters more."""

        def told(tiers: TierList) -> TierList:
            left = tiers.without(set(replaced))
            if meta.best_tier is Tier.COLD:
                return left
            return left.with_hot(meta.id) if meta.is_vouched_for else left.with_warm(meta.id)

        try:
            return self.retiering(told)
        except StoreIo as error:
            self.warn(str(error))
            return None


@frozen
class ActRuns:
    """Acts that are runs, so that `memory undo` takes them back. `publish` updates the managed sections, and tells first how."""

    writes: RecordedWrites
    log: RunLog
    clock: Clock
    new_id: Callable[[int], str]
    publish: Callable[[Callable[[Sequence[SectionChange]], Result[None, Error]]], Result[object, Error]]

    def adopt_edits_of(self, ids: Collection[str]) -> None:
        """Records what a person changed in these notes as theirs."""
        paths = [each.path for each in unwrap(self.writes.store.list()).entries if each.meta.id in ids]
        self.writes.tolerate(self.writes.recorder.adopt_hand_edits(paths))

    def report(
        self,
        machine: RunKind,
        run_id: str,
        began_ms: int,
        summary: str,
        receipt: Receipt,
        dropped: tuple[str, ...] = (),
    ) -> None:
        """Records what a run did: a commit, and a report in the log, with one action for each change."""
        self.writes.tolerate(self.writes.recorder.record(receipt.touched, f"{machine}: {summary}", f"Run {run_id}"))
        actions, ended_ms = logged_actions(receipt.applied), self.clock.now_ms()
        run = LoggedRun(run_id, machine, began_ms, ended_ms, "completed", summary, actions, dropped=dropped)
        unwrap(self.log.put_report(run))

    def show(self, run_id: str) -> None:
        """Updates the managed sections as a part of the run; their trouble is a warning."""
        self.writes.tolerate(self.publish(lambda sections: self.log.put_sections(run_id, sections)))
