"""By what two findings, or two states of a store, are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Finding
from agent_memory.domain.packed_entries import column_of


def finding_fingerprint(finding: Finding, hashes: Mapping[str, str]) -> str:
    """What makes two findings the same: the kind, and the entries byte for byte, in any order. 32 hex digits."""
    inputs = [f"{id} {hashes.get(id, '')}" for id in finding.ids]
    if len(inputs) > 1:
        inputs = sorted(set(inputs))
    return hashlib.sha256("\n".join((finding.kind, *inputs)).encode()).hexdigest()[:32]


def store_fingerprint(live: Sequence[Listed]) -> str:
    """SHA-256 over the ids of the live entries and their files' bytes, in any order, hex."""
    rows = zip(column_of(live, "meta.id"), column_of(live, "content_hash"), strict=True)
    lines = sorted([f"{id} {content_hash}\n" for id, content_hash in rows])
    return hashlib.sha256("".join(lines).encode()).hexdigest()
