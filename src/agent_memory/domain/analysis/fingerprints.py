"""By what two findings, or two states of a store, are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import repeat

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Finding, OneEach
from agent_memory.domain.packed_entries import column_of

_HASH_DIGITS = 16


def finding_fingerprint(finding: Finding, hashes: Mapping[str, str]) -> str:
    """What makes two findings the same: the kind, and the entries byte for byte, in any order. For one entry that is its id and
    the beginning of its hash, which of 50,000 are put together at once; for several a digest."""
    if len(finding.ids) == 1:
        [id] = finding.ids
        return _of_one(finding.kind.value, id, hashes.get(id, ""))
    text = "\n".join(sorted({f"{id} {hashes.get(id, '')}" for id in finding.ids}))
    return f"{finding.kind.value} {hashlib.sha256(text.encode()).hexdigest()[:32]}"


def fingerprints_of(findings: OneEach, hashes: Mapping[str, str]) -> dict[str, str]:
    """By the `finding_fingerprint` of each the id of its entry."""
    ids = findings.ids()
    return dict(zip(map(_of_one, repeat(findings.kind.value), ids, map(hashes.__getitem__, ids)), ids, strict=True))


def _of_one(kind: str, id: str, content_hash: str) -> str:
    return f"{kind} {id} {content_hash[:_HASH_DIGITS]}"


def store_fingerprint(live: Sequence[Listed]) -> str:
    """SHA-256 over the ids of the live entries and their files' bytes, in any order, hex."""
    rows = zip(column_of(live, "meta.id"), column_of(live, "content_hash"), strict=True)
    lines = sorted([f"{id} {content_hash}\n" for id, content_hash in rows])
    return hashlib.sha256("".join(lines).encode()).hexdigest()
