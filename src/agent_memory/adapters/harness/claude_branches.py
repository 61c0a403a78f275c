"""Which parts of a conversation were rewound away."""

from __future__ import annotations

_RECENT_RECORDS = 20_000
_MAX_BRANCHES = 60_000


class Branches:
    """Follows the parent links of a transcript in file order.

    A branch begins at each prompt. It is abandoned if another prompt with the same parent was given after everything
    that grew from it was written: that is what rewinding leaves behind. Two branches that were both written on afterwards
    (a session resumed twice) are both kept. Compaction sets a new root and may rewrite parents; since nothing here walks
    back to a root, it abandons nothing. Memory is bounded: links further back than the last 20,000 records are not
    followed.
    """

    def __init__(self) -> None:
        self._branch_of: dict[str, int] = {}
        self._parents: list[int] = []
        self._begun_at: list[int] = []
        self._last_at: list[int] = []
        self._siblings: dict[str, list[int]] = {}

    def note(self, id: str, parent_id: str | None, position: int, begins: bool) -> int:
        """The branch that this record belongs to, -1 before the first; `begins` for a prompt."""
        branch = self._branch_of.get(parent_id, -1) if parent_id else -1
        if begins:
            branch = self._begin(parent_id, branch, position)
        if branch >= 0:
            self._last_at[branch] = position
        self._branch_of[id] = branch
        if len(self._branch_of) > _RECENT_RECORDS:
            del self._branch_of[next(iter(self._branch_of))]
        return branch

    def forget(self) -> None:
        """Start afresh if there is much to remember: for when nothing noted so far can matter any more."""
        if len(self._parents) > _MAX_BRANCHES:
            for held in (self._branch_of, self._siblings, self._parents, self._begun_at, self._last_at):
                held.clear()

    def abandoned(self) -> frozenset[int]:
        """The branches that were rewound away, with all that grew from them."""
        last_at = list(self._last_at)
        for branch in range(len(self._parents) - 1, -1, -1):
            parent = self._parents[branch]
            if parent >= 0:
                last_at[parent] = max(last_at[parent], last_at[branch])
        left: set[int] = set()
        for siblings in self._siblings.values():
            newest_begun_at = max(self._begun_at[branch] for branch in siblings)
            left.update(branch for branch in siblings if last_at[branch] < newest_begun_at)
        for branch, parent in enumerate(self._parents):
            if parent in left:
                left.add(branch)
        return frozenset(left)

    def _begin(self, parent_id: str | None, parent: int, position: int) -> int:
        branch = len(self._parents)
        self._parents.append(parent)
        self._begun_at.append(position)
        self._last_at.append(position)
        if parent_id:
            self._siblings.setdefault(parent_id, []).append(branch)
        return branch
