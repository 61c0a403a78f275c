"""Notes whose time is over, moved to the archive."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from returns.result import Result

from agent_memory.domain.change import Receipt, Retire
from agent_memory.domain.entry import Listed
from agent_memory.domain.tidying.due import expired_archivings
from agent_memory.domain.tiering.standing import without
from agent_memory.errors import Error
from agent_memory.ports import Locks, Store


def archive_expired(store: Store, locks: Locks, now_ms: int) -> Result[Receipt, Error]:
    """Retire every live entry that has expired by now, as one transaction. What is pinned stays, and what is conflicted or
    has no id of its own."""

    def archived(live: Iterable[Listed]) -> Result[Receipt, Error]:
        movable = {each.meta.id: each for each in live if _may_go(each)}
        ids = [each.id for each in expired_archivings(tuple(movable.values()), now_ms)]
        tiers = store.tiers().value_or(None)  # a damaged list is left as it is, and told of elsewhere
        fewer = None if tiers is None else reduce(without, ids, tiers)
        return store.apply(
            [Retire(id, movable[id].content_hash) for id in ids], tiers=None if fewer == tiers else fewer
        )

    with locks.write() as held:
        return held.bind(lambda _: store.list()).bind(lambda live: archived(live.entries))


def _may_go(listed: Listed) -> bool:
    return not (listed.meta.pinned or listed.conflicted or listed.provisional_id)
