"""Entries as JSON values for `--json`: the frontmatter keys of design §3.2, with `path`, `tier` and (read) `body`; and the answer to
a search: such entries, each with its score and where the query was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_memory.domain.entry import Listed, Source, Usage, reads_of
from agent_memory.domain.instants import iso_of
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Status

if TYPE_CHECKING:
    from agent_memory.domain.searching.search import SearchAnswer, SearchHit, SearchRequest


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


_SCORE_DIGITS = 4


def search_document(request: SearchRequest, answer: SearchAnswer, usage: Mapping[str, Usage]) -> dict[str, Any]:
    """The best entries first. `marks` are half-open ranges of code points of `snippet`; `mode` is what answered, `matched`
    how many entries had something of the query; `usage` is by id, for others the frontmatter counts."""
    return {
        "query": request.query,
        "mode": answer.mode.value,
        "matched": answer.matched,
        "notices": list(answer.notices),
        "entries": [_hit(each, usage) for each in answer.hits],
    }


def _hit(hit: SearchHit, usage: Mapping[str, Usage]) -> dict[str, Any]:
    return {
        **entry_document(hit.listed, reads_of(hit.listed.meta, usage), tier=hit.tier),
        "score": round(hit.score, _SCORE_DIGITS),
        "snippet": hit.snippet.text,
        "marks": [list(each) for each in hit.snippet.marks],
        "parts": [
            {"name": each.name, "value": round(each.value, _SCORE_DIGITS), "detail": each.detail} for each in hit.parts
        ],
        "superseded_by": hit.superseded_by,
    }
