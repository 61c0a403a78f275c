"""Changes to notes, decided before any of them is made, and their outcome: footprints and managed sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from attrs import field, frozen

from agent_memory.errors import Error
from agent_memory.note.note import GLOBAL_SCOPE, MemoryEntry
from agent_memory.text.ids import content_hash
from agent_memory.text.plain_text import SomeText


@frozen
class Change:
    """One note gets another text or another place. Plan checks make these, dry runs show them, the store writes them.

    `create` writes a new note. A file that already holds exactly these bytes counts as written, so a replay is
    harmless. `replace` writes a new version of a live note. If title, description or body differ, the earlier bytes are
    kept as `archive/<id>/<updatedAt ms>.md`; unknown frontmatter keys, comments and key order survive. `retire` moves a
    live note to the archive. With `valid_until_ms` its original bytes are kept beside it as a version. `restore` brings
    an archived note back to life, and removes its id from the aliases of any live note.
    """

    id: str
    entry: MemoryEntry | None = None
    """The note as it will be; None where only its place changes."""
    expected_hash: str | None = None
    """The hash of the live file from which the change was made: if the file holds other bytes by then, the change is
    refused (P8). None where no note is live."""
    valid_until_ms: int | None = None

    @classmethod
    def of(cls, entry: MemoryEntry, expected_hash: str | None = None) -> Change:
        """Returns the change that writes this note: a new one, or with a hash a new version of the live one."""
        return cls(entry.meta.id, entry, expected_hash)

    @classmethod
    def retire(cls, id: str, expected_hash: str, valid_until_ms: int | None = None) -> Change:
        return cls(id, None, expected_hash, valid_until_ms)

    @classmethod
    def restore(cls, id: str) -> Change:
        return cls(id)

    @property
    def subject(self) -> str:
        """Returns the name by which a report refers to the change."""
        return self.id

    @property
    def act(self) -> str:
        """`create`, `replace`, `retire` or `restore`."""
        if self.expected_hash is None:
            return "restore" if self.entry is None else "create"
        return "retire" if self.entry is None else "replace"


@frozen
class ChangeGroup:
    """Changes that are made together or not at all: where one is refused by the state of its note, all are dropped."""

    subject: str
    """The name by which a report refers to the group."""
    changes: tuple[Change, ...]
    kind: str = ""
    """The kind of the action that it carries out (`plan.kind_of`)."""
    words: str = ""
    """The action in words: `merge id__a, id__b into id__c (title)`."""
    fingerprint: str = ""
    """The fingerprint of the action (`plan.fingerprint_of`)."""
    marks: Mapping[str, bytes] = field(factory=dict[str, bytes])
    """Small files below `state/` that are written with it, by path."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.changes if each.expected_hash is not None)

    @property
    def new_ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.changes if each.act == "create")


@frozen
class Applied:
    """One change that is on disk. Paths are relative to the root; a hash is None where there is no file."""

    id: str
    act: str
    path: str
    touched: tuple[str, ...]
    before_hash: str | None
    after_hash: str | None
    title: str = ""
    """The title, for people; None for a secret note."""


class Cause(StrEnum):
    """Why something is not done."""

    REFUSED = "refused"
    """The checks do not allow it."""
    PROTECTED = "protected"
    """The note may not be touched, whatever is proposed."""
    KNOWN = "known"
    """Memory holds it already, or knows better by now."""
    FORGOTTEN = "forgotten"
    """A person had it forgotten."""
    REJECTED = "rejected"
    """A person rejected it."""


@frozen
class Dropped:
    subject: str
    reasons: tuple[str, ...]
    cause: Cause = Cause.REFUSED

    @property
    def words(self) -> str:
        return f"{self.subject}: {'; '.join(self.reasons)}"


@frozen
class Receipt:
    """The outcome of a batch: the changes that were made, and those dropped because of the state of their notes."""

    applied: tuple[Applied, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    touched: tuple[str, ...] = ()
    """Every path that was written or removed, once; for the recorder."""


# -- what changes come to, and how many one run may make ----------------------------------------------------------------

_ALWAYS_ALLOWED = 3
_SHARE = 4


def max_changes(live_at_start: int) -> int:
    """Returns how many live notes one run may change or archive: a quarter of them, at least 3."""
    return max(_ALWAYS_ALLOWED, live_at_start // _SHARE)


def entries_written(changes: Iterable[Change]) -> dict[str, MemoryEntry]:
    """Returns the notes that these changes write, as they will be, by id."""
    return {each.id: each.entry for each in changes if each.entry is not None}


def changed_ids(changes: Iterable[Change]) -> frozenset[str]:
    """Returns the ids of the live notes that these change or archive."""
    return frozenset(each.id for each in changes if each.expected_hash is not None)


def admit(
    changes: Iterable[Change], changed_before: frozenset[str], live_at_start: int
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Returns the changes within the run's limit, and the rest for the next run. New notes always pass; an id that the
    run has already changed counts once."""
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
    """The content of a file and when it was last written; `mtime_ns` is None for a file that is still to be written."""

    data: bytes
    mtime_ns: int | None = None


@frozen
class FileChange:
    """`path` becomes `after`, provided that it is still `before`. None means that there is no file."""

    path: SomeText
    """Relative to the root, with `/`."""
    before: FileState | None
    after: FileState | None


def hash_of(state: FileState | None) -> str | None:
    """Returns the hash of the content; None where there is no file."""
    return None if state is None else content_hash(state.data)


# -- the footprint of a run: its files and managed sections, as they were before and after ----------------------------

CHANGED_SINCE = "was changed since"
"""Ends the reason why a note that somebody changed after the run cannot be restored."""


@frozen
class SectionChange:
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


# -- the files that have a managed section: what is asked for each, and what became of it -----------------------------


@frozen
class SectionBudget:
    hot_chars: int = 6_000
    """Characters of the rendered hot notes."""
    warm_lines: int = 60


@frozen
class Target:
    """A file with a managed section of ours."""

    path: str
    """Absolute path."""
    scopes: frozenset[str] = frozenset({GLOBAL_SCOPE})
    """Scopes whose notes it shows."""
    in_repository: bool = False
    """If so, nothing private is shown in it."""
    once_it_shows: bool = False
    """Whether it gets its first section only when there is a note to show."""


@frozen
class RenderedSection:
    text: str
    """With `\\n` line ends, without a final one."""
    hot: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    cold: int = 0
    demoted_hot: int = 0
    demoted_warm: int = 0
    warnings: tuple[str, ...] = ()


@frozen
class PublishedTarget:
    path: str
    outcome: Literal["written", "unchanged", "refused", "planned"]
    error: Error | None = None
    rendered: RenderedSection | None = None
    warnings: tuple[str, ...] = ()
    diff: str = ""
    kept: str | None = None
    """Path of the copy of what stood between the markers, if that was not memory's own."""

    @property
    def notice(self) -> str | None:
        """Returns what a person should know about the copy."""
        if self.kept is None:
            return None
        return (
            f"The text between the markers of {self.path} was not what memory wrote; before it was replaced, a copy was "
            f"kept as {self.kept}"
        )


@frozen
class Published:
    targets: tuple[PublishedTarget, ...] = field(default=())

    @property
    def refused(self) -> tuple[PublishedTarget, ...]:
        return tuple(each for each in self.targets if each.outcome == "refused")


@frozen
class TargetFile:
    """The file as it is read before a managed section is put into it."""

    path: str
    """The path as it was given."""
    real_path: str
    """The real path: links are followed inside the home."""
    data: bytes | None
    in_repository: bool = False
    chain_bytes: int = 0
    """Size of all files that a harness with a size limit reads together with this one, this one included; 0 where no
    such harness reads it."""
    overridden_by: str | None = None
    """The file beside it that such a harness reads instead."""
    missing_directories: tuple[str, ...] = ()
    """Directories on the way to it that do not exist, outermost first, if they are to be created."""
