"""What of a note comes from one session."""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from agent_memory.domain.entry import Meta, Source
from agent_memory.domain.vocabulary import Harness

Share = Literal["all", "some", "none"]


@frozen
class SessionKey:
    """A session; of whatever harness where none is named."""

    session_id: str
    harness: Harness | None = None

    def is_of(self, source: Source) -> bool:
        """Whether the source is some part of this session."""
        return source.thread_id == self.session_id and self.harness in (None, source.harness)


def share_of(meta: Meta, session: SessionKey, recorded: frozenset[str] = frozenset()) -> Share:
    """How much of an entry comes from the session, by its sources. One without any, that was recorded as made of the
    session, comes from nothing else."""
    if not meta.sources:
        return "all" if meta.id in recorded else "none"
    count = sum(session.is_of(source) for source in meta.sources)
    return "all" if count == len(meta.sources) else "some" if count else "none"


def without_session(meta: Meta, session: SessionKey) -> Meta:
    """The frontmatter without the session among its sources."""
    return evolve(meta, sources=tuple(source for source in meta.sources if not session.is_of(source)))
