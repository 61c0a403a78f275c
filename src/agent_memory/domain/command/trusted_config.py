"""A config file that a person has vouched for."""

from __future__ import annotations

from hashlib import sha256

from attrs import frozen


@frozen
class TrustedConfig:
    """Exactly these bytes at exactly this place; one more byte, or another place, is another file."""

    path: str
    """Its real path."""
    sha256: str
    """Of its bytes, in lower-case hexadecimal."""
    trusted_at_ms: int

    def is_of(self, content: bytes) -> bool:
        """Whether these are the bytes."""
        return self.sha256 == sha256(content).hexdigest()


def trusted_now(path: str, content: bytes, at_ms: int) -> TrustedConfig:
    """The record of a person's word for this content at this real path."""
    return TrustedConfig(path, sha256(content).hexdigest(), at_ms)


def vouches_for(trusted: tuple[TrustedConfig, ...], path: str, content: bytes) -> bool:
    """Whether one of the records is of this content at this real path."""
    return any(each.path == path and each.is_of(content) for each in trusted)
