"""A sync: what is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from agent_memory.domain.text.file_name import id_in_name

_LIVE, _RETIRED = "topics/", "archive/"


@frozen
class NoteCounts:
    """Notes by what became of them from one tree to another."""

    created: int = 0
    changed: int = 0
    archived: int = 0
    removed: int = 0

    @property
    def any(self) -> bool:
        return bool(self.created or self.changed or self.archived or self.removed)

    def __add__(self, other: NoteCounts) -> NoteCounts:
        return NoteCounts(
            self.created + other.created,
            self.changed + other.changed,
            self.archived + other.archived,
            self.removed + other.removed,
        )

    def words(self) -> str:
        """`2 new, 1 changed`; `no note` for none."""
        named = (("new", self.created), ("changed", self.changed), ("archived", self.archived), ("gone", self.removed))
        return ", ".join(f"{count} {word}" for word, count in named if count) or "no note"


def count_notes(before: Mapping[str, object], after: Mapping[str, object]) -> NoteCounts:
    """How the live notes of two trees differ; values are compared as they are."""
    was, now = _live(before), _live(after)
    retired = {_key(path) for path in after if path.startswith(_RETIRED) and path.count("/") == 1}
    gone = was.keys() - now.keys()
    return NoteCounts(
        created=len(now.keys() - was.keys()),
        changed=sum(was[key] != now[key] for key in was.keys() & now.keys()),
        archived=len(gone & retired),
        removed=len(gone - retired),
    )


def _live(files: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    return {_key(path): (path, held) for path, held in files.items() if path.startswith(_LIVE)}


def _key(path: str) -> str:
    name = path.rpartition("/")[2]
    return id_in_name(name) or name


@frozen
class Remark:
    """Something about one path or note that a person should know, in words: `what` became of `subject`."""

    subject: str
    what: str


@frozen
class SyncRequest:
    remote: str | None = None
    """The address of a remote that is to be this store's from now on."""
    dry_run: bool = False
    after_purge: bool = False
    """A person says that a purge is known, here or on the other machine, and is to hold on both."""


@frozen
class Synced:
    """What a sync did, or a dry run would do."""

    remote: str
    branch: str
    received: NoteCounts = NoteCounts()
    """What changed on this machine."""
    sent: NoteCounts = NoteCounts()
    """What changed for the others."""
    pushed: bool = False
    """There was something to send: files, or the history of both."""
    merged: bool = False
    """Both machines had changed something."""
    conflicts: tuple[Remark, ...] = ()
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    after_purge: bool = False
    dry_run: bool = False


def together(first: Synced, then: Synced) -> Synced:
    """Two rounds of one sync; what was sent is what the last one sent."""
    return evolve(
        then,
        received=first.received + then.received,
        pushed=first.pushed or then.pushed,
        merged=first.merged or then.merged,
        conflicts=tuple(dict.fromkeys((*first.conflicts, *then.conflicts))),
        remarks=tuple(dict.fromkeys((*first.remarks, *then.remarks))),
        forgotten=first.forgotten + then.forgotten,
        after_purge=first.after_purge or then.after_purge,
    )


def sentence_of(synced: Synced) -> str:
    """All of it in one sentence."""
    if not (synced.pushed or synced.received.any or synced.merged or synced.forgotten):
        return f"Nothing to sync: this machine and {synced.remote} are the same."
    verbs = ("would receive", "send") if synced.dry_run else ("Received", "sent")
    start = "Dry run: " if synced.dry_run else ""
    received, sent = synced.received.words(), synced.sent.words()
    return f"{start}{verbs[0]} {received}; {verbs[1]} {sent} ({synced.remote}, branch {synced.branch})."
