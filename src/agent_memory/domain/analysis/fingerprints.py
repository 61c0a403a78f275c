"""By what two findings, or two states of a store, are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Finding


def finding_fingerprint(finding: Finding, hashes: Mapping[str, str]) -> str:
    """What makes two findings the same: the kind, and the entries byte for byte, in any order. 32 hex digits."""
    inputs = [f"{id} {hashes.get(id, '')}" for id in finding.ids]
    if len(inputs) > 1:
        inputs = sorted(set(inputs))
    return hashlib.sha256("\n".join((finding.kind, *inputs)).encode()).hexdigest()[:32]


def store_fingerprint(live: Iterable[Listed]) -> str:
    """SHA-256 over the ids of the live entries and their files' bytes, in any order, hex."""
    digest = hashlib.sha256()
    for line in sorted(f"{each.meta.id} {each.content_hash}\n" for each in live):
        digest.update(line.encode())
    return digest.hexdigest()
