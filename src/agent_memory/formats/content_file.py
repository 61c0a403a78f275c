"""A file of `.cache/` with what was derived from notes: rows by the hash of a file's content, and the words that rows number.

Layout: signature (32 bytes) · SHA-256 of the rest (32 bytes) · marshal of `(words, rows)`. The signature stands for the layout, for
what the rows come from, and for what else marshal and numbers in rows depend on: a file of another is not read. The digest is
checked first, since marshal must not be fed damaged bytes.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Mapping, Sequence

from agent_memory.values import field, frozen

_LAYOUT = 2
_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
HEAD_BYTES = 2 * _DIGEST_BYTES
"""By which one content is told from another."""


@frozen
class Content:
    """What is in such a file."""

    rows: Mapping[str, bytes] = field(factory=dict[str, bytes])
    """By content hash."""
    words: Sequence[str] = field(factory=list[str])
    """Each at the place that its number says."""


def render_content(program: str, content: Content) -> bytes:
    """The whole file. `program` is what the rows come from: another one may make others."""
    body = marshal.dumps((list(content.words), dict(content.rows)), _MARSHAL_VERSION)
    return _signature(program) + hashlib.sha256(body).digest() + body


def parse_content(data: bytes, program: str) -> Content:
    """What was rendered for the same program; nothing of anything else."""
    whole = memoryview(data)
    body = whole[HEAD_BYTES:]
    expected = _signature(program) + hashlib.sha256(body).digest()
    if bytes(whole[:HEAD_BYTES]) != expected:
        return Content()
    words, rows = marshal.loads(body)
    return Content(rows, words)


def _signature(program: str) -> bytes:
    return hashlib.sha256(repr((_LAYOUT, program, sys.implementation.cache_tag, sys.byteorder)).encode()).digest()
