"""Files of the store as such: permissions, owners, litter, what does not belong there."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, Severity
from agent_memory.domain.doctor.note_checks import is_sync_conflict
from agent_memory.domain.text.file_name import is_note_name

_LITTER = re.compile(r"\.tmp-[0-9a-f]{16}", re.ASCII)
"""Names of our own temporary files, and nobody else's."""
_STAGED = re.compile(r"\.transaction/\d+\.new", re.ASCII)
_CACHE = ".cache/store.db"
_TOPICS = "topics"
_OF_OTHERS = 0o077
"""The rights of all who are not the owner."""


@frozen
class Found:
    """One file, directory or other thing below the root, as `lstat` sees it."""

    path: str
    """Relative to the root, printable; the root itself is empty."""
    mode: int
    """`st_mode`."""
    owner: int
    """User id."""
    mtime_ms: int


def is_temporary(found: Found) -> bool:
    """Whether it is a temporary file of ours: litter, unless a living process writes it."""
    name = found.path.rpartition("/")[2]
    ours = _LITTER.fullmatch(name) or _STAGED.fullmatch(found.path)
    return bool(ours) and stat.S_ISREG(found.mode)


def is_odd_cache(found: Found) -> bool:
    """Whether something that is no file has the place of the database, which then can never be written."""
    return found.path == _CACHE and not stat.S_ISREG(found.mode)


def is_loose(found: Found) -> bool:
    """Whether others than the owner have any right to it."""
    return (stat.S_ISREG(found.mode) or stat.S_ISDIR(found.mode)) and bool(found.mode & _OF_OTHERS)


def tight_mode(found: Found) -> int:
    """What the mode should be: 0700 for a directory, 0600 for a file."""
    return 0o700 if stat.S_ISDIR(found.mode) else 0o600


def examine_files(found: Iterable[Found], user: int, is_written: Callable[[Found], bool]) -> Iterator[Finding]:
    """All that lies below the root; `is_written` tells of a temporary file whether a process writes it. Behind a closed root nobody gets at a file that is open: that is worth a note."""
    things = tuple(found)
    root = next((each for each in things if not each.path), None)
    open_to_others = root is None or is_loose(root)
    for each in things:
        yield from _examine(each, user, is_written, open_to_others)


def _examine(each: Found, user: int, is_written: Callable[[Found], bool], open_to_others: bool) -> Iterator[Finding]:
    subject = each.path or "."
    if each.owner != user:
        yield of.FOREIGN_OWNER.found(subject, f"It belongs to the user with the id {each.owner}; `chown` gives it back")
    elif is_loose(each):
        mode = f"{stat.S_IMODE(each.mode):04o}"
        yield of.LOOSE_PERMISSIONS.found(
            subject,
            f"Its mode is {mode}, it should be {tight_mode(each):04o}",
            None if open_to_others else Severity.NOTE,
        )
    if is_temporary(each) and not is_written(each):
        yield of.LITTER.found(subject, "A write that was cut short left this temporary file")
    elif is_odd_cache(each):
        yield of.DAMAGED_CACHE.found(subject, "It should be a file, and keeps searches and listings slow")
    elif not (stat.S_ISREG(each.mode) or stat.S_ISDIR(each.mode)):
        if not _is_to_be_note(each.path):  # those are among the unreadable notes
            yield of.ODD_FILE.found(subject, "It is neither file nor directory, and nothing in the store follows it")
    elif not _is_to_be_note(each.path) and is_sync_conflict(subject.rpartition("/")[2]):
        yield of.SYNC_CONFLICT_FILE.found(
            subject, "Two machines wrote the same file at once; keep one of both, and remove this name"
        )


def _is_to_be_note(path: str) -> bool:
    directory, _, name = path.rpartition("/")
    return directory == _TOPICS and is_note_name(name)
