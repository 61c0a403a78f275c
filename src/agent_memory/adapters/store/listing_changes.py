"""A listing of before, brought up to date with the few files that changed since, without a look at the others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence, Set as AbstractSet
from operator import attrgetter

from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.packed_entries import Entries, chosen, column_of, rows_of

FEW = 200
"""Of more changes a listing is made as quickly from all of its entries."""

_path = attrgetter("path")


def brought_up_to_date(
    before: Listing, known: Container[str], touched: AbstractSet[str], fresh: Sequence[Listed | UnreadableFile]
) -> Listing | None:
    """The listing in which the touched paths stand for what is fresh of them, and those that were known and are not touched
    for what they stood for; None where that takes a look at all: there are many, or an id has several files now. `before` has
    one file for each id."""
    if len(touched) > FEW:
        return None
    gone = list(chosen(before.entries, map(touched.__contains__, column_of(before.entries, "path"))))
    new = [each for each in fresh if isinstance(each, Listed)]
    if not _is_one_an_id(before, gone, new):
        return None
    problems = [each for each in before.unreadable if each.path in known and each.path not in touched]
    problems += (each for each in fresh if isinstance(each, UnreadableFile))
    return _with(before, gone, new, problems)


def _is_one_an_id(before: Listing, gone: Sequence[Listed], new: Sequence[Listed]) -> bool:
    free = {each.meta.id for each in gone}
    ids = {each.meta.id for each in new}
    return len(ids) == len(new) and all(id in free or id not in before.found.by_id for id in ids)


def _with(
    before: Listing, gone: Sequence[Listed], new: Sequence[Listed], problems: Sequence[UnreadableFile]
) -> Listing:
    rows, packed = rows_of(before.entries)
    paths = column_of(before.entries, "path")
    for each in gone:
        at = bisect_left(paths, each.path)
        del rows[at], paths[at]
    for each in new:
        at = bisect_left(paths, each.path)
        rows.insert(at, each)
        paths.insert(at, each.path)
    changed = Entries(rows, packed)
    return Listing(changed, tuple(sorted(problems, key=_path)), before.lookup.changed(changed, gone, new))
