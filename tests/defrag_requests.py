"""Stores as values, and what a defrag is asked about them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from agent_memory.note.note import Harness, Listed, Meta, Source, StoredEntry, Usage, body_hash
from agent_memory.rules.findings import Analysis, Finding
from agent_memory.rules.plan import DefragRequest
from agent_memory.text.ids import mint_id

DAY_MS = 86_400_000
NOW_MS = 1_771_000_000_000
CITED = (Source(Harness.CLAUDE_CODE, "s-1", turns=(3,)),)


def stored(title: str, body: str = "", *, conflicted: bool = False, **fields: Any) -> StoredEntry:
    """A live entry, two days old, said by the person unless `fields` say otherwise; its id follows from its title."""
    at_ms = fields.pop("at_ms", NOW_MS - 2 * DAY_MS)
    body = body or f"{title}."
    known = {
        "id": mint_id(title, at_ms, ()),
        "created_at_ms": at_ms,
        "updated_at_ms": at_ms,
        "sources": CITED,
        **fields,
    }
    meta = Meta(title=title, **known)
    digest = hashlib.sha256(f"{meta!r}{body}".encode()).hexdigest()
    path = f"topics/{title} -- {meta.id}.md"
    return StoredEntry(Listed(meta, path, digest, body_hash=body_hash(body), conflicted=conflicted), body)


def request_of(
    entries: Iterable[StoredEntry],
    findings: Iterable[Finding] = (),
    usage: Mapping[str, Usage] | None = None,
    **fields: Any,
) -> DefragRequest:
    """All of the entries are live and shown in full."""
    shown = tuple(entries)
    body_chars = {each.meta.id: len(each.body) for each in shown}
    request = DefragRequest(
        prompt="",
        nonce="n0nce-4711",
        live=tuple(each.listed for each in shown),
        shown=shown,
        analysis=Analysis(tuple(findings), body_chars),
        usage=usage or {},
        now_ms=NOW_MS,
    )
    return evolve(request, **fields)
