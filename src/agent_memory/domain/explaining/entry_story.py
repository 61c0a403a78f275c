"""Everything that is known of one entry, gathered from where it is kept."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.entry import Listed, StoredEntry, Usage
from agent_memory.domain.explaining.tier_reason import TierStanding
from agent_memory.domain.run_log import LoggedRun, Machine, short_id


@frozen
class Revision:
    """One commit that touched the entry's file."""

    commit: str
    """Abbreviated."""
    at: str
    """ISO 8601, of the author's clock."""
    author: str
    subject: str


@frozen
class Chapter:
    """One thing that a run did to the entry."""

    run_id: str
    machine: Machine
    at_ms: int
    kind: str
    """See `LoggedAction.kind`."""
    ids: tuple[str, ...]
    new_ids: tuple[str, ...]
    words: str
    undone_by: str | None = None


@frozen
class EntryStory:
    """What `memory why ID` tells."""

    asked: str
    """The id that was asked for; it may be an alias."""
    stored: StoredEntry
    usage: Usage
    standing: TierStanding
    chapters: tuple[Chapter, ...] = ()
    """Oldest first."""
    revisions: tuple[Revision, ...] = ()
    """Newest first."""
    merged: tuple[Listed, ...] = ()
    """Archived entries whose ids lead here now."""
    supersedes: tuple[Listed, ...] = ()
    superseded_by: tuple[Listed, ...] = ()
    told: tuple[str, ...] = ()
    """Which files and sessions tell it, in sentences."""
    unread: tuple[str, ...] = ()
    """What could not be looked at, in words."""


def chapters_of(ids: frozenset[str], runs: Iterable[LoggedRun]) -> tuple[Chapter, ...]:
    """What the runs did to any of these entries, oldest first; `runs` come newest first."""
    found = [
        Chapter(
            run.run_id, run.machine, run.started_at_ms, each.kind, each.ids, each.new_ids, each.words, run.undone_by
        )
        for run in runs
        for each in reversed(run.actions)
        if not ids.isdisjoint((*each.ids, *each.new_ids))
    ]
    return tuple(reversed(found))


_DONE = {
    "create": "written",
    "replace": "changed",
    "retire": "archived",
    "restore": "brought back from the archive",
    "remove": "taken away",
    "merge": "merged",
    "split": "split",
    "rename": "renamed",
    "retag": "given other tags",
    "edit": "edited",
    "archive": "archived",
}


def chapter_in_words(chapter: Chapter) -> str:
    """`merged by defrag 4dbfbe: merge id__…, id__… into id__…`."""
    done = f"{_DONE.get(chapter.kind, chapter.kind)} by {chapter.machine} {short_id(chapter.run_id)}"
    told = f"{done}: {chapter.words or _moved(chapter)}".removesuffix(": ")
    return f"{told} (undone by {short_id(chapter.undone_by)})" if chapter.undone_by else told


def _moved(chapter: Chapter) -> str:
    if chapter.ids and chapter.new_ids:
        return f"{', '.join(chapter.ids)} into {', '.join(chapter.new_ids)}"
    return ""
