"""A derived value in a file of `.cache/`: signature (32 bytes) · SHA-256 of the rest (32 bytes) · marshal of the value.

The signature stands for what the value comes from, and for what marshal depends on: a file of another is not read. The digest
is checked first, since marshal must not be fed damaged bytes.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from typing import Any

_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
HEAD_BYTES = 2 * _DIGEST_BYTES
"""By which one content is told from another."""


def sealed_value(value: Any, layout: str, program: str) -> bytes:
    """The whole file. `layout` names the form of the value; `program` is what it comes from: another one may find another."""
    body = marshal.dumps(value, _MARSHAL_VERSION)
    return _signature(layout, program) + hashlib.sha256(body).digest() + body


def unsealed_value(data: bytes, layout: str, program: str) -> Any:
    """What was sealed in this layout by the same program; None of anything else."""
    body = memoryview(data)[HEAD_BYTES:]
    if data[:HEAD_BYTES] != _signature(layout, program) + hashlib.sha256(body).digest():
        return None
    return marshal.loads(body)


def _signature(layout: str, program: str) -> bytes:
    return hashlib.sha256(repr((layout, program, sys.implementation.cache_tag, sys.byteorder)).encode()).digest()
