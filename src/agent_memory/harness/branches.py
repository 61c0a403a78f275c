"""What was said before somebody went back, told by the places and parents of records, in little memory (P25)."""

from __future__ import annotations

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
        self._parents: dict[int, int] = {}
        self._last_at: dict[int, int] = {}
        self._siblings: dict[str, list[int]] = {}

    def note(self, id: str, parent_id: str, position: int, begins: bool) -> int:
        """Returns the branch that this record belongs to, named by the position at which it began, -1 before the first;
        `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1)
        if begins:
            self._parents[position], branch = branch, position
            if parent_id:
                self._siblings.setdefault(parent_id, []).append(branch)
        self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def abandoned(self) -> set[int]:
        """Returns the branches that were rewound away, with all that grew from them."""
        last_at = {-1: 0, **self._last_at}
        for branch, parent in reversed(self._parents.items()):
            last_at[parent] = max(last_at[parent], last_at[branch])
        left = {each for siblings in self._siblings.values() for each in siblings if last_at[each] < siblings[-1]}
        for branch, parent in self._parents.items():
            if parent in left:
                left.add(branch)
        return left
