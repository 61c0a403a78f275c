"""The scopes that notes have."""

from __future__ import annotations

from attrs import frozen


@frozen
class ScopeUse:
    """A scope that notes have."""

    scope: str
    notes: int
    is_gone: bool = False
    """Nothing is where it was, or something else."""
    now: str | None = None
    """A repository of the same history that is there, where one is known."""
