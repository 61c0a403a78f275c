"""Entries as JSON values for `--json`: the frontmatter keys of design §3.2, with `path`, `tier` and (read) `body`."""

from __future__ import annotations

from typing import Any

from agent_memory.domain.entry import Listed, Source, Usage
from agent_memory.domain.instants import iso_of
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Status


def entry_document(listed: Listed, usage: Usage, body: str | None = None, *, tier: Tier = Tier.COLD) -> dict[str, Any]:
    """One entry; `used` and `last_used` include every host's ledger, and `status` is `promoted` for what is hot. Instants
    are epoch ms, `last_used` ISO 8601."""
    meta = listed.meta
    document: dict[str, Any] = {
        "id": meta.id,
        "title": meta.title,
        "description": meta.description,
        "kind": meta.kind.value,
        "tags": list(meta.tags),
        "status": (Status.PROMOTED if tier is Tier.HOT else meta.status).value,
        "origin": meta.origin.value,
        "scope": meta.scope,
        "importance": meta.importance.value,
        "confidence": meta.confidence,
        "sensitivity": meta.sensitivity.value,
        "pinned": meta.pinned,
        "promotedBy": meta.promoted_by,
        "used": usage.count,
        "last_used": None if usage.last_at_ms is None else iso_of(usage.last_at_ms),
        "createdAt": meta.created_at_ms,
        "updatedAt": meta.updated_at_ms,
        "expiresAt": meta.expires_at_ms,
        "validFrom": meta.valid_from_ms,
        "validUntil": meta.valid_until_ms,
        "aliases": list(meta.aliases),
        "supersedes": list(meta.supersedes),
        "sources": [_source(each) for each in meta.sources],
        "path": listed.path,
        "archived": listed.archived,
        "tier": tier.value,
    }
    return document if body is None else {**document, "body": body}


def _source(source: Source) -> dict[str, Any]:
    return {
        "harness": source.harness.value,
        "threadId": source.thread_id,
        "repo": source.repo,
        "cwd": source.cwd,
        "agent": source.agent,
        "turns": list(source.turns),
    }
