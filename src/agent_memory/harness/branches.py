"""What was said before somebody went back, told by the places and parents of records, in little memory (P25)."""

from __future__ import annotations

from array import array
from itertools import groupby

_KEY_BYTES = 8
_RECENT_RECORDS = 20_000


class Places:
    """The place of each id in the order of the file, in 8 bytes an id, so that millions fit (P25)."""

    def __init__(self) -> None:
        self._keys = bytearray()

    def __len__(self) -> int:
        return len(self._keys) // _KEY_BYTES

    def add(self, id: str) -> int:
        """Adds one id more and returns its place. One that was there before means the newer place from now on."""
        self._keys += hash(id).to_bytes(_KEY_BYTES, "little", signed=True)
        return len(self) - 1

    def find(self, id: str) -> int | None:
        """Returns the place of an id, sooner where it is a late one; None where it has none."""
        key, end = hash(id).to_bytes(_KEY_BYTES, "little", signed=True), len(self._keys)
        while (at := self._keys.rfind(key, 0, end)) >= 0:
            if at % _KEY_BYTES == 0:
                return at // _KEY_BYTES
            end = at + _KEY_BYTES - 1
        return None


class Branches:
    """Follows the parent links of a transcript in file order.

    A branch begins at each prompt. It is abandoned if another prompt with the same parent was given after everything
    that grew from it was written: that is what rewinding leaves behind. Two branches that were both written on afterwards
    (a session resumed twice) are both kept. Compaction sets a new root and may rewrite parents; since nothing here walks
    back to a root, it abandons nothing. Links further back than the last 20,000 records are not followed.
    """

    def __init__(self) -> None:
        self._branch_of: dict[str, int] = {}
        # Of each branch: the one that it grew from, its parent record, where it began, and where it was last written on.
        self._grown_from, self._parents, self._begun_at, self._last_at = (array("q") for _ in range(4))

    def note(self, id: str, parent_id: str, position: int, begins: bool) -> int:
        """Returns the branch that this record belongs to, -1 before the first; `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1)
        if begins:
            self._grown_from.append(branch)
            self._parents.append(hash(parent_id))
            self._begun_at.append(position)
            self._last_at.append(position)
            branch = len(self._parents) - 1
        if branch >= 0:
            self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def abandoned(self) -> bytearray:
        """Returns for each branch whether it was rewound away, by itself or with the one that it grew from."""
        last_at, left = self._last_at[:], bytearray(len(self._parents))
        for branch in reversed(range(len(left))):
            if (origin := self._grown_from[branch]) >= 0:
                last_at[origin] = max(last_at[origin], last_at[branch])
        by_parent = sorted(range(len(left)), key=self._parents.__getitem__)
        for parent, siblings in groupby(by_parent, self._parents.__getitem__):
            *older, newest = siblings
            for branch in older if parent != hash("") else ():
                left[branch] = last_at[branch] < self._begun_at[newest]
        for branch, origin in enumerate(self._grown_from):
            left[branch] |= origin >= 0 and left[origin]
        return left
