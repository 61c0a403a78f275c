"""The managed section of a target, as values."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from agent_memory.errors import Error
from agent_memory.note.note import GLOBAL_SCOPE


@frozen
class SectionBudget:
    """What a section may hold."""

    hot_chars: int = 6_000
    """Characters of the rendered hot entries."""
    warm_lines: int = 60


@frozen
class Target:
    """A file in which we own one managed section."""

    path: str
    """Absolute."""
    scopes: frozenset[str] = frozenset({GLOBAL_SCOPE})
    """Scopes whose entries it shows."""
    in_repository: bool = False
    """Then nothing private is shown in it."""
    once_it_shows: bool = False
    """It gets its first section with the first note that there is to show."""


@frozen
class RenderedSection:
    """The section with its markers, and what is in it."""

    text: str
    """With `\\n` line ends, without a final one."""
    hot: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    cold: int = 0
    demoted_hot: int = 0
    demoted_warm: int = 0
    warnings: tuple[str, ...] = ()


@frozen
class PublishedTarget:
    """What became of one target."""

    path: str
    outcome: Literal["written", "unchanged", "refused", "planned"]
    error: Error | None = None
    rendered: RenderedSection | None = None
    warnings: tuple[str, ...] = ()
    diff: str = ""
    kept: str | None = None
    """Where a copy is of what stood between the markers, if that was not memory's own."""

    @property
    def notice(self) -> str | None:
        """What a person is to know of the copy."""
        if self.kept is None:
            return None
        return (
            f"The text between the markers of {self.path} was not what memory wrote; before it was replaced, a copy was "
            f"kept as {self.kept}"
        )


@frozen
class Published:
    """All targets."""

    targets: tuple[PublishedTarget, ...] = field(default=())

    @property
    def refused(self) -> tuple[PublishedTarget, ...]:
        return tuple(each for each in self.targets if each.outcome == "refused")


@frozen
class TargetFile:
    """What is read before a managed section is put into a file."""

    path: str
    """As it was named."""
    real_path: str
    """Where it really is: links are followed inside the home."""
    data: bytes | None
    in_repository: bool = False
    chain_bytes: int = 0
    """Size of all files that are read together with this one by a harness that reads no more than so much, this one
    included; 0 where no such harness reads it."""
    overridden_by: str | None = None
    """The file beside it that such a harness reads in its place."""
    missing_directories: tuple[str, ...] = ()
    """Directories on the way to it that do not exist, the outermost first, where they are to be made."""
