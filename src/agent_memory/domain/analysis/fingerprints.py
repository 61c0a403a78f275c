"""By what two findings, or two states of a store, are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Finding

_HASH_DIGITS = 16


def finding_fingerprint(finding: Finding, hashes: Mapping[str, str]) -> str:
    """What makes two findings the same: the kind, and the entries byte for byte, in any order. For one entry that is its id and
    the beginning of its hash; for several a digest."""
    if len(finding.ids) == 1:
        [id] = finding.ids
        return f"{finding.kind.value} {id} {hashes.get(id, '')[:_HASH_DIGITS]}"
    text = "\n".join(sorted({f"{id} {hashes.get(id, '')}" for id in finding.ids}))
    return f"{finding.kind.value} {hashlib.sha256(text.encode()).hexdigest()[:32]}"


def store_fingerprint(live: Iterable[Listed]) -> str:
    """SHA-256 over the ids of the live entries and their files' bytes, in any order, hex."""
    lines = sorted(f"{each.meta.id} {each.content_hash}\n" for each in live)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
