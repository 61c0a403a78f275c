"""What an inbox entry says of a place, without the secrets in its names (P20)."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.redaction import redact_path


def as_captured(entry: InboxEntry) -> InboxEntry:
    """The entry as it waits. The branch finds nothing, so it is redacted at once; the directory and the transcript's path
    find the repository and the session, so they stay until the entry is consumed."""
    return evolve(entry, context=evolve(entry.context, branch=_redacted(entry.context.branch)))


def as_consumed(entry: InboxEntry) -> InboxEntry:
    """The entry once nothing is to be found by it any more. A transcript's path with a secret in it goes as a whole: a
    session is found by its id too, and by a wrong path never."""
    context, retrieval = entry.context, entry.retrieval
    if isinstance(retrieval, SessionFile) and retrieval.session_path != _redacted(retrieval.session_path):
        retrieval = evolve(retrieval, session_path=None)
    told = evolve(context, cwd=_redacted(context.cwd), repo=_redacted(context.repo), branch=_redacted(context.branch))
    return evolve(entry, context=told, retrieval=retrieval)


def _redacted(name: str | None) -> str | None:
    return None if name is None else redact_path(name)
