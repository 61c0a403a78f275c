"""Changes made, recorded and shown: what every act on single notes, on tags, state and scopes ends with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

from attrs import frozen
from returns.result import Result, Success

from agent_memory.caller import Caller
from agent_memory.errors import EntryChanged, Error, StoreIo
from agent_memory.note.note import Listed, MemoryEntry, Meta, Tier, TierList
from agent_memory.ports import Locks, Recorder, Store
from agent_memory.results import unwrap, warning_of
from agent_memory.rules.change import Change, ChangeGroup, Receipt
from agent_memory.rules.section import Published


@frozen
class RecordedWrites:
    """Changes on behalf of a caller. `warn` is told what did not go wrong enough to fail: trouble with git or with a target.
    `publish` brings the managed sections up to date."""

    store: Store
    recorder: Recorder
    locks: Locks
    caller: Caller
    warn: Callable[[str], None]
    publish: Callable[[], Result[Published, Error]] = lambda: Success(Published())

    @contextmanager
    def act(self) -> Generator[None, None, None]:
        """Holds the write lock, and brings the targets up to date after it; their trouble is told, and fails nothing."""
        with self.locks.write():
            yield
        published = self.publish()
        self.tolerate(published)
        for target in published.map(lambda done: done.refused).value_or(()):
            if target.error is not None:
                self.warn(str(target.error))

    def apply(self, subject: str, *changes: Change, tiers: TierList | None = None) -> None:
        """Carry out the changes as one, and record them under one write lock, so that no other process takes the write for a
        person's; what a person did to the same files before is recorded as theirs first."""
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
        """Give all these notes another frontmatter, as one transaction. `updatedAt` stays: when a note was changed says when
        the knowledge was."""
        changes: list[Change] = []
        for each in notes:
            stored = unwrap(self.store.read(each.meta.id))
            changes.append(Change.of(MemoryEntry(change(stored.meta), stored.body), stored.listed.content_hash))
        return unwrap(self.store.apply(changes, run_id=run_id))

    def tolerate(self, done: Result[object, Error]) -> None:
        """Git is history, not durability (P4): its trouble is told, and fails nothing."""
        for warning in warning_of(done):
            self.warn(warning)

    # -- tiers ----------------------------------------------------------------------------------------------------------

    def retiering(self, change: Callable[[TierList], TierList]) -> TierList | None:
        """Returns the tier list to be written; None where it stays. One that is damaged is left as it is: what a person
        vouches for is shown without it, and what is archived is not shown with it. One that the disk does not give now
        is an error: the act can be done again, all of it (P5)."""
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
        """Returns the tier list with a note that came, or came back, so that the files with a managed section tell the
        next session of it, and without those that it takes the place of; None where it stays. The note is worth more
        than its place: trouble with the list is told, and fails nothing."""

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
