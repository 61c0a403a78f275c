"""The files that have a managed section: what is asked for each, and what became of it."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from agent_memory.errors import Error
from agent_memory.note.note import GLOBAL_SCOPE


@frozen
class SectionBudget:
    hot_chars: int = 6_000
    """Characters of the rendered hot notes."""
    warm_lines: int = 60


@frozen
class Target:
    """A file with a managed section of ours."""

    path: str
    """Absolute path."""
    scopes: frozenset[str] = frozenset({GLOBAL_SCOPE})
    """Scopes whose notes it shows."""
    in_repository: bool = False
    """If so, nothing private is shown in it."""
    once_it_shows: bool = False
    """Whether it gets its first section only when there is a note to show."""


@frozen
class RenderedSection:
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
    path: str
    outcome: Literal["written", "unchanged", "refused", "planned"]
    error: Error | None = None
    rendered: RenderedSection | None = None
    warnings: tuple[str, ...] = ()
    diff: str = ""
    kept: str | None = None
    """Path of the copy of what stood between the markers, if that was not memory's own."""

    @property
    def notice(self) -> str | None:
        """Returns what a person should know about the copy."""
        if self.kept is None:
            return None
        return (
            f"The text between the markers of {self.path} was not what memory wrote; before it was replaced, a copy was "
            f"kept as {self.kept}"
        )


@frozen
class Published:
    targets: tuple[PublishedTarget, ...] = field(default=())

    @property
    def refused(self) -> tuple[PublishedTarget, ...]:
        return tuple(each for each in self.targets if each.outcome == "refused")


@frozen
class TargetFile:
    """The file as it is read before a managed section is put into it."""

    path: str
    """The path as it was given."""
    real_path: str
    """The real path: links are followed inside the home."""
    data: bytes | None
    in_repository: bool = False
    chain_bytes: int = 0
    """Size of all files that a harness with a size limit reads together with this one, this one included; 0 where no
    such harness reads it."""
    overridden_by: str | None = None
    """The file beside it that such a harness reads instead."""
    missing_directories: tuple[str, ...] = ()
    """Directories on the way to it that do not exist, outermost first, if they are to be created."""
