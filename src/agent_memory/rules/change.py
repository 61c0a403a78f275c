"""Changes of notes, decided before any of them is made, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.note.note import MemoryEntry
from agent_memory.text.ids import content_hash
from agent_memory.text.plain_text import SomeText


@frozen
class Change:
    """One note becomes another text, or changes its place: what plan checks make, dry runs show and the store writes.

    `create` writes a new note. A file that already holds exactly these bytes counts as written, so a replay is harmless.
    `replace` writes a new version of a live note. Where title, description or body differ, the earlier bytes are kept as
    `archive/<id>/<updatedAt ms>.md`; unknown frontmatter keys, comments and key order of the file survive.
    `retire` moves a live note to the archive. With `valid_until_ms` its original bytes are kept beside it as a version.
    `restore` brings an archived note back to life, and takes its id out of the alias list of any live note.
    """

    id: str
    entry: MemoryEntry | None = None
    """What it says from then on; None where only its place changes."""
    expected_hash: str | None = None
    """Of the live file that it was made from: with other bytes there it is refused (P8). None where no note is live."""
    valid_until_ms: int | None = None

    @classmethod
    def of(cls, entry: MemoryEntry, expected_hash: str | None = None) -> Change:
        """Returns a new note; with a hash a new version of the live one."""
        return cls(entry.meta.id, entry, expected_hash)

    @classmethod
    def retire(cls, id: str, expected_hash: str, valid_until_ms: int | None = None) -> Change:
        return cls(id, None, expected_hash, valid_until_ms)

    @classmethod
    def restore(cls, id: str) -> Change:
        return cls(id)

    @property
    def subject(self) -> str:
        """What a report calls it where it is refused."""
        return self.id

    @property
    def act(self) -> str:
        """`create`, `replace`, `retire` or `restore`."""
        if self.expected_hash is None:
            return "restore" if self.entry is None else "create"
        return "retire" if self.entry is None else "replace"


@frozen
class ChangeGroup:
    """Changes that are made all or none: where one is refused by the state of its note, all of them are dropped."""

    subject: str
    """What a report calls it where it is refused."""
    changes: tuple[Change, ...]
    kind: str = ""
    """Of the action that it carries out (`plan.kind_of`)."""
    words: str = ""
    """The action in words: `merge id__a, id__b into id__c (title)`."""
    fingerprint: str = ""
    """Of the action (`plan.fingerprint_of`)."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The notes that it changes or archives, in order."""
        return tuple(each.id for each in self.changes if each.expected_hash is not None)

    @property
    def new_ids(self) -> tuple[str, ...]:
        """The notes that it creates, in order."""
        return tuple(each.id for each in self.changes if each.act == "create")


@frozen
class Applied:
    """One change that is durable on disk. Paths are relative to the root; hashes are None where there is no file."""

    id: str
    act: str
    path: str
    touched: tuple[str, ...]
    before_hash: str | None
    after_hash: str | None
    title: str = ""
    """For people; none of a secret note."""


@frozen
class Dropped:
    """One thing that was not done, and why, in words."""

    subject: str
    reasons: tuple[str, ...]


@frozen
class Receipt:
    """What a batch did: everything else of it stands; a dropped change was refused by the state of its note."""

    applied: tuple[Applied, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    touched: tuple[str, ...] = ()
    """Every path written or removed, once: what a recorder is told."""


# -- what changes come to, and how many one run may make ----------------------------------------------------------------

_ALWAYS_ALLOWED = 3
_SHARE = 4


def max_changes(live_at_start: int) -> int:
    """Returns how many live notes one run may change or archive: a quarter of them, at least 3."""
    return max(_ALWAYS_ALLOWED, live_at_start // _SHARE)


def entries_written(changes: Iterable[Change]) -> dict[str, MemoryEntry]:
    """Returns the notes that these write, as they write them, by id."""
    return {each.id: each.entry for each in changes if each.entry is not None}


def changed_ids(changes: Iterable[Change]) -> frozenset[str]:
    """Returns the live notes that these change or archive."""
    return frozenset(each.id for each in changes if each.expected_hash is not None)


def admit(
    changes: Iterable[Change], changed_before: frozenset[str], live_at_start: int
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Returns the changes within the run's limit, and the rest, to be taken up again by the next run. New notes always
    pass; an id that the run has changed before counts once."""
    limit = max_changes(live_at_start)
    changed = set(changed_before)
    now: list[Change] = []
    later: list[Change] = []
    for each in changes:
        fresh = changed_ids([each]) - changed
        if not fresh or len(changed) < limit:
            now.append(each)
            changed |= fresh
        else:
            later.append(each)
    return tuple(now), tuple(later)


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
    """Returns the content's hash; None where there is no file."""
    return None if state is None else content_hash(state.data)
