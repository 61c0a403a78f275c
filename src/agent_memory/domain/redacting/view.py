"""A text as it reads once decoded, and where each of its characters came from."""

from __future__ import annotations

from agent_memory.domain.redacting.rule import Span
from agent_memory.values import frozen


@frozen
class View:
    """`text` after decoding; its character `n` stands at `starts[n]` of the original, and the last of `starts` ends it."""

    text: str
    starts: tuple[int, ...]

    def original(self, span: Span) -> Span:
        """Where a span of the view lies in the original."""
        return Span(self.starts[span.start], self.starts[span.end], span.rank, span.name)
