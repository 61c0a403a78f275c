"""A file of `.cache/` with what was derived from notes: `(words, rows)`, rows by the hash of a file's content, and the words that
rows number (see `sealed_marshal` for what is around them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.formats.sealed_marshal import HEAD_BYTES as HEAD_BYTES, sealed_value, unsealed_value
from agent_memory.values import field, frozen

_LAYOUT = "content 2"


@frozen
class Content:
    """What is in such a file."""

    rows: Mapping[str, bytes] = field(factory=dict[str, bytes])
    """By content hash."""
    words: Sequence[str] = field(factory=list[str])
    """Each at the place that its number says."""


def render_content(program: str, content: Content) -> bytes:
    """The whole file. `program` is what the rows come from: another one may make others."""
    return sealed_value((list(content.words), dict(content.rows)), _LAYOUT, program)


def parse_content(data: bytes, program: str) -> Content:
    """What was rendered for the same program; nothing of anything else."""
    value = unsealed_value(data, _LAYOUT, program)
    if value is None:
        return Content()
    words, rows = value
    return Content(rows, words)
