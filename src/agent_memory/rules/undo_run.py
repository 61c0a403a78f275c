"""The footprint of a run: its files and managed sections, as they were before and after."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from agent_memory.rules.change import FileChange, hash_of
from agent_memory.text.plain_text import SomeText

CHANGED_SINCE = "was changed since"
"""Ends the reason why a note that somebody changed after the run cannot be restored."""


@frozen
class SectionChange:
    """The change of one target's managed section."""

    path: SomeText
    """Absolute path of the real file."""
    before: str | None
    """The section with its markers; None where there was none."""
    after: str | None
    separator: str = ""
    """What was put between the file's own text and an appended section."""
    created: bool = False


@frozen
class Footprint:
    """The files under the root in the order in which they were changed, and the sections. Both keys must be present in
    a file: half a footprint must not be undone."""

    files: tuple[FileChange, ...] = field(default=(), metadata={"stated": True})
    sections: tuple[SectionChange, ...] = field(default=(), metadata={"stated": True})


@frozen
class Folded:
    """The net changes of a run."""

    files: tuple[FileChange, ...]
    """One for each path, in the order of the last change of each; none for a file that is as it was before."""
    interrupted: tuple[str, ...] = ()
    """Paths that somebody else changed between two changes of the run: the first `before` does not hold their work."""


def fold_files(changes: Sequence[FileChange]) -> Folded:
    """Returns the changes as if each file had been changed once."""
    whole: dict[str, FileChange] = {}
    interrupted: dict[str, None] = {}
    for change in changes:
        earlier = whole.pop(change.path, None)
        if earlier is not None and hash_of(earlier.after) != hash_of(change.before):
            interrupted[change.path] = None
        whole[change.path] = change if earlier is None else FileChange(change.path, earlier.before, change.after)
    files = tuple(each for each in whole.values() if hash_of(each.before) != hash_of(each.after))
    return Folded(files, tuple(interrupted))
