"""Where the characters of a text that was decoded or put together came from."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.redacting.rule import Span


@frozen
class Places:
    """Character `n` of a text as it reads now stands at `starts[n]` of the original, and the last of `starts` ends it."""

    starts: tuple[int, ...]

    def original(self, span: Span) -> Span:
        """Where a span of the text lies in the original."""
        return Span(self.starts[span.start], self.starts[span.end], span.rank, span.name)
