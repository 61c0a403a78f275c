"""When two entries say the same."""

from __future__ import annotations

from hashlib import sha256


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()
