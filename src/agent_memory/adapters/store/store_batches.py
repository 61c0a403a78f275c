"""Batches of changes, each decided and committed as one transaction. The caller holds the write lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.footprints import with_footprint
from agent_memory.adapters.store.reversal import decide_reversal
from agent_memory.adapters.store.shelves import Shelves
from agent_memory.adapters.store.store_acts import decide
from agent_memory.adapters.store.store_draft import Act, Draft
from agent_memory.adapters.store.tier_file import put_tiers
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import Applied, Change, Dropped, Receipt, Together, subject_of
from agent_memory.domain.entry import Listings
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.results import sealed
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryChanged, EntryExists, EntryNotFound, EntryUnreadable, Error, UndoRefused
from agent_memory.values import evolve, frozen
from agent_memory.wording import describe

_ATTEMPTS = 5
"""How often a batch is decided anew because somebody edits the same files at this very moment."""


@frozen
class Decided:
    """What became of a batch; `refusals` says of each change or group that was dropped why, as a value."""

    draft: Draft
    receipt: Receipt
    refusals: tuple[Error, ...] = ()


class Batches:
    """Changes the files under a real root."""

    def __init__(self, root: str, shelves: Shelves) -> None:
        self._root = root
        self._shelves = shelves
        self._transactions = Transactions(root)

    def recover(self) -> Result[None, Error]:
        """Undo or finish what a crash left half done."""
        return self._transactions.recover()

    def apply(
        self,
        changes: Sequence[Change | Together],
        tiers: TierList | None,
        run_id: str | None,
        listed: Listings | None = None,
    ) -> Result[Decided, Error]:
        """All changes that are not refused, in order, each upon what the one before it left; on an error none. Decided upon
        `listed` first, where that is given."""
        subject = subject_of(changes[0]) if changes else TIERS_FILE

        def decided(draft: Draft) -> Result[Decided, Error]:
            return _decide(changes, draft).bind(lambda batch: _with_tiers(batch, tiers))

        return self._carry_out(decided, run_id, EntryChanged(subject), listed)

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool) -> Result[Decided, Error]:
        """Every file of the footprint as it was before it; a dry run only decides."""

        def decided(draft: Draft) -> Result[Decided, Error]:
            return decide_reversal(footprint, draft.fresh).map(lambda decided: Decided(*decided))

        if dry_run:
            return self.recover().bind(lambda _: self._draft()).bind(decided)
        return self._carry_out(decided, run_id, UndoRefused("", ("somebody is changing the same files right now",)))

    def _carry_out(
        self,
        decide_upon: Callable[[Draft], Result[Decided, Error]],
        run_id: str | None,
        given_up: Error,
        listed: Listings | None = None,
    ) -> Result[Decided, Error]:
        recovered = self.recover()
        if isinstance(recovered, Failure):
            return recovered
        for is_sure in (False, *(True,) * _ATTEMPTS):
            decided = (self._draft() if is_sure else self._likely_draft(listed)).bind(decide_upon)
            if not is_sure and (isinstance(decided, Failure) or decided.unwrap().refusals):
                continue  # only what is there now can refuse
            if isinstance(decided, Failure):
                return decided
            changes = with_footprint(self._root, decided.unwrap().draft.file_changes(), run_id)
            if isinstance(changes, Failure):
                return changes
            committed = self._transactions.commit(changes.unwrap())
            if isinstance(committed, Failure):
                return committed
            if committed.unwrap():
                return decided
        return Failure(given_up)

    def _draft(self) -> Result[Draft, Error]:
        """A draft upon what is there."""
        return self._shelves.live().map(lambda live: Draft(self._root, self._shelves, live))

    def _likely_draft(self, listed: Listings | None) -> Result[Draft, Error]:
        """A draft upon what was there when it was listed, or a moment ago: each file that is written is read and compared in
        any case."""
        if listed is not None:
            return Success(Draft(self._root, self._shelves, listed.live, listed.archive))
        return self._shelves.live().map(lambda live: Draft(self._root, self._shelves, live))


def _decide(changes: Sequence[Change | Together], draft: Draft) -> Result[Decided, Error]:
    applied: list[Applied] = []
    dropped: list[Dropped] = []
    refusals: list[Error] = []
    for each in changes:
        match sealed(_take_all(each.changes if isinstance(each, Together) else (each,), draft)):
            case Success(taken):
                applied += taken
            case Failure((EntryExists() | EntryChanged() | EntryNotFound() | EntryUnreadable()) as refusal):
                dropped.append(Dropped(subject_of(each), (describe(refusal),)))
                refusals.append(refusal)
            case Failure(error):
                return Failure(error)
    return Success(Decided(draft, Receipt(tuple(applied), tuple(dropped)), tuple(refusals)))


def _take_all(changes: Sequence[Change], draft: Draft) -> Result[tuple[Applied, ...], Error]:
    """All of them, or none and why.

    A replay finds all of them done. Where only some are, somebody did or undid a part meanwhile: the rest is not made upon
    that.
    """
    mark = draft.mark()
    acts: list[Act] = []
    for change in changes:
        decided = decide(change, draft)
        if isinstance(decided, Failure):
            draft.go_back(mark)
            return decided
        acts.append(decided.unwrap())
        draft.take(acts[-1])
    done_before = next((act.applied.id for act in acts if act.again), None)
    if done_before is not None and any(act.writes for act in acts):
        draft.go_back(mark)
        return Failure(EntryChanged(done_before))
    return Success(tuple(act.applied for act in acts))


def _with_tiers(decided: Decided, tiers: TierList | None) -> Result[Decided, Error]:
    if tiers is None:
        return Success(decided)
    return put_tiers(tiers, decided.draft).map(
        lambda is_new: evolve(decided, receipt=evolve(decided.receipt, tiers_changed=is_new))
    )
