"""Batches of changes, each decided and committed as one transaction. The caller holds the write lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.store.entry_files import RUNS
from agent_memory.adapters.store.reversal import decide_reversal
from agent_memory.adapters.store.shelves import Shelves
from agent_memory.adapters.store.store_acts import decide, put_tiers
from agent_memory.adapters.store.store_draft import Act, Draft
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import Applied, Change, Dropped, Receipt, Together, subject_of
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.domain.undo_run import Footprint
from agent_memory.errors import (
    EntryChanged,
    EntryExists,
    EntryNotFound,
    EntryUnreadable,
    Error,
    PathRefused,
    UndoRefused,
)
from agent_memory.formats.footprint_json import render_footprint
from agent_memory.wording import describe

_ATTEMPTS = 5
"""How often a batch is decided anew because somebody edits the same files at this very moment."""
_FOOTPRINT = re.compile(r"footprint-(\d{1,9})\.json", re.ASCII)


@frozen
class Decided:
    """What became of a batch; `refusals` says of each change or group that was dropped why, as a value."""

    receipt: Receipt
    refusals: tuple[Error, ...] = ()


class Batches:
    """Changes the files under a real root."""

    def __init__(self, root: str, shelves: Shelves) -> None:
        self._root = root
        self._shelves = shelves
        self._transactions = Transactions(root)

    def recover(self) -> None:
        """Undo or finish what a crash left half done."""
        self._transactions.recover()

    def apply(self, changes: Sequence[Change | Together], tiers: TierList | None, run_id: str | None) -> Decided:
        """All changes that are not refused, in order, each upon what the one before it left; on an error none."""

        def decided(draft: Draft) -> tuple[Draft, Decided]:
            batch = _decide(changes, draft)
            if tiers is not None and put_tiers(tiers, draft):
                batch = evolve(batch, receipt=evolve(batch.receipt, tiers_changed=True))
            return draft, batch

        return self._carry_out(decided, run_id, EntryChanged(subject_of(changes[0]) if changes else TIERS_FILE))

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool) -> Decided:
        """Every file of the footprint as it was before it; a dry run only decides."""

        def decided(draft: Draft) -> tuple[Draft, Decided]:
            reverted, receipt = decide_reversal(footprint, draft)
            return reverted, Decided(receipt)

        if dry_run:
            self.recover()
            return decided(self._draft())[1]
        return self._carry_out(decided, run_id, UndoRefused("", ("somebody is changing the same files right now",)))

    def _carry_out(
        self, decide_upon: Callable[[Draft], tuple[Draft, Decided]], run_id: str | None, given_up: Error
    ) -> Decided:
        self.recover()
        for _ in range(_ATTEMPTS):
            draft, decided = decide_upon(self._draft())
            if self._transactions.commit(self._with_footprint(draft.file_changes(), run_id)):
                return decided
        raise given_up

    def _draft(self) -> Draft:
        return Draft(self._shelves, self._shelves.live())

    def _with_footprint(self, changes: Sequence[FileChange], run_id: str | None) -> Sequence[FileChange]:
        """The changes and, unless there are none or they are of no run, the file that holds them."""
        if run_id is None or not changes:
            return changes
        directory = f"{RUNS}/{run_id}"
        if not is_plain_name(run_id) or run_id.startswith("."):
            raise PathRefused(directory, "it is not a plain name")
        names = map(_FOOTPRINT.fullmatch, names_below(self._root, directory))
        number = max((int(found[1]) for found in names if found), default=0) + 1
        state = FileState(render_footprint(Footprint(tuple(changes))))
        return (*changes, FileChange(f"{directory}/footprint-{number}.json", None, state))


def _decide(changes: Sequence[Change | Together], draft: Draft) -> Decided:
    applied: list[Applied] = []
    dropped: list[Dropped] = []
    refusals: list[Error] = []
    for each in changes:
        try:
            applied += _take_all(each.changes if isinstance(each, Together) else (each,), draft)
        except (EntryExists, EntryChanged, EntryNotFound, EntryUnreadable) as refusal:
            dropped.append(Dropped(subject_of(each), (describe(refusal),)))
            refusals.append(refusal)
    return Decided(Receipt(tuple(applied), tuple(dropped)), tuple(refusals))


def _take_all(changes: Sequence[Change], draft: Draft) -> list[Applied]:
    """All of them, or none and why.

    A replay finds all of them done. Where only some are, somebody did or undid a part meanwhile: the rest is not made upon
    that.
    """
    mark = draft.mark()
    acts: list[Act] = []
    try:
        for change in changes:
            acts.append(decide(change, draft))
            draft.take(acts[-1])
        done_before = next((act.applied.id for act in acts if act.again), None)
        if done_before is not None and any(act.writes for act in acts):
            raise EntryChanged(done_before)
    except Exception:
        draft.go_back(mark)
        raise
    return [act.applied for act in acts]
