"""Changes to single files, decided before any of them is made."""

from __future__ import annotations

from hashlib import sha256

from attrs import frozen


@frozen
class FileState:
    """What a file holds, and when it was last written; None for what is still to be written: at that moment."""

    data: bytes
    mtime_ns: int | None = None


@frozen
class FileChange:
    """One file becomes `after`, provided that it still is `before`. None stands for no file."""

    path: str
    """Relative to the root, with `/`."""
    before: FileState | None
    after: FileState | None


def content_hash(data: bytes) -> str:
    """SHA-256, hex: what tells one content of an entry's file from another (P8)."""
    return sha256(data).hexdigest()


def hash_of(state: FileState | None) -> str | None:
    """The content's hash; None where there is no file."""
    return None if state is None else content_hash(state.data)
