"""A target as it lies on disk."""

from __future__ import annotations

from attrs import frozen


@frozen
class TargetFile:
    """What is read before a managed section is put into a file."""

    path: str
    """As it was named."""
    real_path: str
    """Where it really is: links are followed inside the home."""
    data: bytes | None
    """None where there is no file."""
    in_repository: bool = False
    """The real file lies in a git work tree."""
    chain_bytes: int = 0
    """Size of all files that are read together with this one by a harness that reads no more than so much, this one
    included; 0 where no such harness reads it."""
    overridden_by: str | None = None
    """The file beside it that such a harness reads in its place."""
