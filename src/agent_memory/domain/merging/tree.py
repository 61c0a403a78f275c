"""What a commit holds, and what a merge of two makes of it."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

PLAIN_MODES = ("100644", "100755")
"""Of regular files, as git writes them."""


@frozen
class Leaf:
    """One file of a commit."""

    mode: str
    object_id: str
    size_bytes: int = 0


Tree = Mapping[str, Leaf]
"""By path, relative to the root, with `/`."""

EMPTY: Tree = {}


@frozen
class Remark:
    """Something about one path or note that a person should know, in words: `what` became of `subject`."""

    subject: str
    what: str


@frozen
class MergedTree:
    """Every file of the merge: one that a commit has already, or new bytes."""

    files: Mapping[str, Leaf | bytes]
    outside: frozenset[str] = field(default=frozenset())
    """Paths that stay in git and are never written to disk: links, submodules, what lies where nothing of ours lies."""
    conflicts: tuple[Remark, ...] = ()
    """Notes in which two versions of the same lines stand."""
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    """Files that were left out since they were forgotten on one of the machines."""
