"""Batches of changes, each decided and committed as one transaction. The caller holds the write lock."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.shelves import Shelves
from agent_memory.adapters.store.store_acts import decide
from agent_memory.adapters.store.store_draft import Draft
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import Applied, Change, Create, Dropped, Receipt, Replace, Restore, Retire
from agent_memory.domain.entry import Listing
from agent_memory.domain.results import sealed
from agent_memory.errors import EntryChanged, EntryExists, EntryNotFound, EntryUnreadable, Error
from agent_memory.wording import describe

_ATTEMPTS = 5
"""How often a batch is decided anew because somebody edits the same files at this very moment."""


@frozen
class Decided:
    """What became of a batch; `refusals` says of each dropped change why, as a value."""

    draft: Draft
    receipt: Receipt
    refusals: tuple[Error, ...]


class Batches:
    """Changes the files under a real root."""

    def __init__(self, root: str, shelves: Shelves) -> None:
        self._root = root
        self._shelves = shelves
        self._transactions = Transactions(root)

    def recover(self) -> Result[None, Error]:
        """Undo or finish what a crash left half done."""
        return self._transactions.recover()

    def apply(self, changes: Sequence[Change]) -> Result[Decided, Error]:
        """All changes that are not refused, in order, each upon what the one before it left; on an error none."""
        return self.recover().bind(lambda _: self._apply(changes))

    def _apply(self, changes: Sequence[Change]) -> Result[Decided, Error]:
        for _ in range(_ATTEMPTS):
            decided = self._shelves.live().bind(lambda live: self._decide(changes, live))
            if isinstance(decided, Failure):
                return decided
            committed = self._transactions.commit(decided.unwrap().draft.file_changes())
            if isinstance(committed, Failure):
                return committed
            if committed.unwrap():
                return decided
        return Failure(EntryChanged(_subject(changes[0])))

    def _decide(self, changes: Sequence[Change], live: Listing) -> Result[Decided, Error]:
        draft = Draft(self._root, self._shelves, live)
        applied: list[Applied] = []
        dropped: list[Dropped] = []
        refusals: list[Error] = []
        for change in changes:
            match sealed(decide(change, draft)):
                case Success(act):
                    draft.take(act)
                    applied.append(act.applied)
                case Failure((EntryExists() | EntryChanged() | EntryNotFound() | EntryUnreadable()) as refusal):
                    dropped.append(Dropped(_subject(change), (describe(refusal),)))
                    refusals.append(refusal)
                case Failure(error):
                    return Failure(error)
        return Success(Decided(draft, Receipt(tuple(applied), tuple(dropped)), tuple(refusals)))


def _subject(change: Change) -> str:
    match change:
        case Create(entry) | Replace(entry, _):
            return entry.meta.id
        case Retire(id, _, _) | Restore(id):
            return id
