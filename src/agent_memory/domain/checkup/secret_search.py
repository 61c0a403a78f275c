"""What a search of the whole store for secrets found. Nothing in it quotes a secret."""

from __future__ import annotations

from agent_memory.values import frozen


@frozen
class SecretFind:
    """One file, one object of git or one name in which redaction finds something."""

    path: str
    """Relative to the root, without secrets. "" for an object of git that no commit holds any more."""
    kinds: tuple[tuple[str, int], ...]
    """How many of each name (`github-token`), by name."""
    commit: str | None = None
    """The first commit that holds it, in full; None for a file as it stands on disk."""
    in_history: bool = False
    """True for what git keeps, false for a file."""


@frozen
class SecretSearch:
    """The finds, files first, in the order in which they were come upon, and how much was looked at."""

    finds: tuple[SecretFind, ...] = ()
    files: int = 0
    objects: int = 0
    """Of git: versions of files and messages of commits."""
    unread: tuple[str, ...] = ()
    """What could not be looked at, each with the reason: where this is not empty, silence proves nothing."""

    @property
    def is_clean(self) -> bool:
        return not self.finds and not self.unread
