"""`.cache/past-sessions.json`: what backfill has seen in past sessions, by a hash of where each is. Derived data."""

from __future__ import annotations

import json
from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.seen_session import SeenSession
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.formats.strict_values import document_of, value_of

FORMAT = 1


@frozen
class _Document:
    format: int
    program: str
    sessions: dict[str, SeenSession] = field(factory=dict[str, SeenSession])


def render_seen(program: str, sessions: Mapping[str, SeenSession]) -> bytes:
    """JSON; `program` is the version that read the transcripts, since another one may read them otherwise."""
    document = document_of(_Document(FORMAT, program, dict(sessions)))
    return json.dumps(document, separators=(",", ":")).encode("ascii")


def parse_seen(data: bytes, program: str) -> dict[str, SeenSession]:
    """What was rendered by the same version; nothing of anything else."""
    found = parse_strict_json(data).map(lambda document: value_of(document, _Document).value_or(None)).value_or(None)
    return found.sessions if found is not None and (found.format, found.program) == (FORMAT, program) else {}
