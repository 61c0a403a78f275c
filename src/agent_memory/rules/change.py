"""Changes to the store, decided before any of them is made, and what came of them."""

from __future__ import annotations

from attrs import frozen

from agent_memory.note.note import MemoryEntry
from agent_memory.note.vocabulary import TIERS_FILE
from agent_memory.text.ids import content_hash
from agent_memory.text.plain_text import SomeText


@frozen
class Create:
    """Write a new entry. A file that already holds exactly these bytes counts as written, so a replay is harmless."""

    entry: MemoryEntry


@frozen
class Replace:
    """Write a new version of a live entry whose bytes still have `expected_hash`.

    When title, description or body differ, the earlier bytes are kept as `archive/<id>/<updatedAt ms>.md`. Unknown
    frontmatter keys, comments and key order of the file survive.
    """

    entry: MemoryEntry
    expected_hash: str


@frozen
class Retire:
    """Move a live entry to the archive. With `valid_until_ms` its original bytes are kept beside it as a version."""

    id: str
    expected_hash: str
    valid_until_ms: int | None = None


@frozen
class Restore:
    """Bring an archived entry back to life, and take its id out of the alias list of any live entry."""

    id: str


Change = Create | Replace | Retire | Restore


@frozen
class Together:
    """Changes that are made all or none: where one is refused by the state of its entry, all of them are dropped."""

    subject: str
    changes: tuple[Change, ...]


@frozen
class Applied:
    """One change that is durable on disk. Paths are relative to the root; hashes are None where there is no file."""

    id: str
    act: str
    """`create`, `replace`, `retire`, `restore`, or `revert` for whatever an undo did to the entry."""
    path: str
    touched: tuple[str, ...]
    before_hash: str | None
    after_hash: str | None
    title: str = ""
    """Of the entry, for people, where the report of a run is to name it."""


@frozen
class Dropped:
    """One thing that was not done, and why, in words."""

    subject: str
    reasons: tuple[str, ...]


@frozen
class Receipt:
    """What a batch did: everything else of it stands; a dropped change was refused by the state of its entry."""

    applied: tuple[Applied, ...]
    dropped: tuple[Dropped, ...] = ()
    tiers_changed: bool = False

    @property
    def touched(self) -> tuple[str, ...]:
        """Every path written or removed, once: what a recorder is told."""
        paths = [path for each in self.applied for path in each.touched]
        return tuple(dict.fromkeys([*paths, TIERS_FILE] if self.tiers_changed else paths))


def subject_of(change: Change | Together) -> str:
    """What a report calls it: the id, or the subject of a group."""
    match change:
        case Together(subject, _):
            return subject
        case Create(entry) | Replace(entry, _):
            return entry.meta.id
        case Retire(id, _, _) | Restore(id):
            return id


# -- changes of files -------------------------------------------------------------------------------------------------
# Changes to single files, decided before any of them is made.


@frozen
class FileState:
    """What a file holds, and when it was last written; None for what is still to be written: at that moment."""

    data: bytes
    mtime_ns: int | None = None


@frozen
class FileChange:
    """One file becomes `after`, provided that it still is `before`. None stands for no file."""

    path: SomeText
    """Relative to the root, with `/`."""
    before: FileState | None
    after: FileState | None


def hash_of(state: FileState | None) -> str | None:
    """The content's hash; None where there is no file."""
    return None if state is None else content_hash(state.data)
