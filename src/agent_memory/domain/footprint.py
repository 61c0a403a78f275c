"""What a run changed on disk, with what was there before: all that undo and diff need. Folded, it is one change for each file, from
what was there before the run to what it left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attrs import frozen

from agent_memory.domain.recording.file_change import FileChange, hash_of
from agent_memory.domain.tiers import Tier, TierList


@frozen
class SectionChange:
    """How a run changed the managed section of one target."""

    path: str
    """Absolute, of the real file."""
    before: str | None
    """The section with its markers; None where there was none."""
    after: str | None
    separator: str = ""
    """What was put between the file's own text and a section that was appended."""
    created: bool = False
    """There was no file."""


@frozen
class Footprint:
    """The files under the root in the order in which they were changed, and the sections."""

    files: tuple[FileChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()


@frozen
class Folded:
    """What a run came to."""

    files: tuple[FileChange, ...]
    """One for each path, in the order of the last change of each; none for a file that is as it was before."""
    interrupted: tuple[str, ...] = ()
    """Paths that somebody else changed between two changes of the run: the first `before` does not hold their work."""


def fold_files(changes: Sequence[FileChange]) -> Folded:
    """The changes, as if each file had been changed once."""
    whole: dict[str, FileChange] = {}
    interrupted: dict[str, None] = {}
    for change in changes:
        earlier = whole.pop(change.path, None)
        if earlier is not None and hash_of(earlier.after) != hash_of(change.before):
            interrupted[change.path] = None
        whole[change.path] = change if earlier is None else FileChange(change.path, earlier.before, change.after)
    files = tuple(each for each in whole.values() if hash_of(each.before) != hash_of(each.after))
    return Folded(files, tuple(interrupted))


# -- tiers ------------------------------------------------------------------------------------------------------------


def reverse_tiers(now: TierList, before: TierList, after: TierList) -> TierList:
    """`now`, but with each entry that went from one tier to another between `before` and `after`, and has stayed there
    since, back in the tier that it had.

    Everything else stays in its place; what comes back follows the entry that it followed in `before`.
    """
    current, earlier, later = _tiers_of(now), _tiers_of(before), _tiers_of(after)
    moved = {id for id in earlier.keys() | later.keys() if earlier.get(id) is not later.get(id)}
    back = {id for id in moved if current.get(id) is later.get(id)}
    return TierList(_with_back(now.hot, before.hot, back), _with_back(now.warm, before.warm, back))


def _tiers_of(tiers: TierList) -> Mapping[str, Tier]:
    """The tier of each id that is not cold."""
    return {**dict.fromkeys(tiers.warm, Tier.WARM), **dict.fromkeys(tiers.hot, Tier.HOT)}


def _with_back(now: Sequence[str], before: Sequence[str], back: set[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(id for id in now if id not in back)
    following: defaultdict[str | None, list[str]] = defaultdict(list)
    predecessor: str | None = None
    for id in before:
        if id in back:
            following[predecessor].append(id)
        elif id in kept:
            predecessor = id
    return (*following[None], *(each for id in kept for each in (id, *following[id])))
