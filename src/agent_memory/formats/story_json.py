"""What `memory why` tells, as JSON values for `--json`. Instants are ISO 8601, except those of a commit, which are git's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_memory.domain.entry import Listed, Source
from agent_memory.domain.explaining.entry_story import Chapter, EntryStory
from agent_memory.domain.explaining.provenance import said_by
from agent_memory.domain.explaining.reopening import reopening_command
from agent_memory.domain.explaining.session_trace import Capture, FoundSessions, SessionTrace
from agent_memory.domain.explaining.session_words import dropped_of, facts_in_words, state_in_words
from agent_memory.domain.explaining.tier_reason import TierStanding, tier_reason
from agent_memory.domain.instants import iso_of
from agent_memory.domain.vocabulary import Harness


def story_document(story: EntryStory) -> dict[str, Any]:
    """One entry, without its body."""
    meta = story.stored.meta
    return {
        "id": meta.id,
        "asked": story.asked,
        "title": meta.title,
        "kind": meta.kind.value,
        "status": meta.status.value,
        "scope": meta.scope,
        "path": story.stored.listed.path,
        "archived": story.stored.listed.archived,
        "origin": meta.origin.value,
        "promotedBy": meta.promoted_by,
        "saidBy": said_by(meta),
        "createdAt": iso_of(meta.created_at_ms),
        "updatedAt": iso_of(meta.updated_at_ms),
        "sources": [_source(each) for each in meta.sources],
        "history": [_chapter(each) for each in story.chapters],
        "commits": [
            {"commit": each.commit, "at": each.at, "author": each.author, "subject": each.subject}
            for each in story.revisions
        ],
        "aliases": list(meta.aliases),
        "merged": _named(story.merged),
        "supersedes": _named(story.supersedes),
        "supersededBy": _named(story.superseded_by),
        "told": list(story.told),
        "tier": _standing(story.standing),
        "usage": {"count": story.usage.count, "lastAt": _iso(story.usage.last_at_ms)},
        "unread": list(story.unread),
    }


def sessions_document(asked: str, found: FoundSessions) -> dict[str, Any]:
    """The sessions that an id means; none where nothing is known of it."""
    return {
        "asked": asked,
        "sessions": [_session(each) for each in found.traces],
        "unopenedInboxFiles": found.unopened,
        "unread": list(found.unread),
    }


def _source(source: Source) -> dict[str, Any]:
    return {
        "harness": source.harness.value,
        "threadId": source.thread_id,
        "turns": list(source.turns),
        "repo": source.repo,
        "cwd": source.cwd,
        "agent": source.agent,
        "reopen": reopening_command(source.harness, source.thread_id, source.cwd),
    }


def _chapter(chapter: Chapter) -> dict[str, Any]:
    return {
        "at": iso_of(chapter.at_ms),
        "run": chapter.run_id,
        "machine": chapter.machine,
        "kind": chapter.kind,
        "ids": list(chapter.ids),
        "newIds": list(chapter.new_ids),
        "words": chapter.words,
        "undoneBy": chapter.undone_by,
    }


def _named(entries: Iterable[Listed]) -> list[dict[str, Any]]:
    return [{"id": each.meta.id, "title": each.meta.title, "archived": each.archived} for each in entries]


def _standing(standing: TierStanding) -> dict[str, Any]:
    parts = standing.parts
    return {
        "tier": standing.tier.value,
        "best": standing.best.value,
        "pinned": standing.meta.pinned,
        "reasons": list(tier_reason(standing)),
        "score": {
            "total": round(parts.total, 4),
            "importance": parts.importance,
            "use": round(parts.use, 4),
            "recency": round(parts.recency, 4),
            "origin": parts.origin,
            "pin": parts.pin,
        },
    }


def _session(trace: SessionTrace) -> dict[str, Any]:
    mark = trace.mark
    return {
        "harness": trace.harness,
        "sessionId": trace.session_id,
        "state": trace.state,
        "words": [state_in_words(trace), *facts_in_words(trace)],
        "cwd": trace.cwd,
        "reopen": reopening_of(trace),
        "captures": [_capture(each) for each in trace.captures],
        "readUpTo": None
        if mark is None
        else {"turn": mark.turns_seen, "at": _iso(mark.last_at_ms), "agent": mark.agent_name},
        "runs": [
            {
                "run": each.run_id,
                "at": iso_of(each.at_ms),
                "machine": each.machine,
                "verdict": each.seen.verdict,
                "reason": each.seen.reason,
            }
            for each in trace.runs
        ],
        "entries": _named(trace.entries),
        "dropped": list(dropped_of(trace)),
        "deferred": list(trace.deferred),
    }


def reopening_of(trace: SessionTrace) -> str | None:
    """See `reopening_command`; None for a harness that is not one of ours."""
    known = trace.harness in tuple(Harness)
    return reopening_command(Harness(trace.harness), trace.session_id, trace.cwd) if known else None


def _capture(capture: Capture) -> dict[str, Any]:
    trouble, outcome = capture.trouble, capture.outcome
    return {
        "name": capture.name,
        "place": capture.place,
        "at": iso_of(capture.at_ms),
        "cwd": capture.cwd,
        "repo": capture.repo,
        "trouble": None
        if trouble is None
        else {
            "attempts": trouble.attempts,
            "timeouts": trouble.timeouts,
            "notBefore": _iso(trouble.not_before_ms or None),
            "code": trouble.code,
            "message": trouble.message,
        },
        "outcome": None
        if outcome is None
        else {
            "verdict": outcome.verdict,
            "run": outcome.run_id,
            "at": iso_of(outcome.at_ms),
            "entries": list(outcome.entry_ids),
            "reason": outcome.reason,
            "dropped": list(outcome.dropped),
        },
    }


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso_of(at_ms)
