"""A sync: what is asked for, and what came of it."""

from __future__ import annotations

from attrs import evolve, frozen

from agent_memory.domain.merging.counting import NoteCounts
from agent_memory.domain.merging.tree import Remark


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
