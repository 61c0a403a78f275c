"""What a person or an agent asks the service to store or to change."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.vocabulary import Harness, Importance, Kind, Sensitivity


@frozen
class Caller:
    """Who is at the keyboard: a person, or an agent inside its harness."""

    harness: Harness = Harness.MANUAL
    variable: str | None = None
    """The environment variable that shows that an agent is calling; None for a person."""

    @property
    def is_agent(self) -> bool:
        return self.variable is not None


@frozen
class NoteDraft:
    """A note to be stored at once. A missing title is the body's first line; a missing scope is `global`."""

    body: str
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    kind: Kind = Kind.FACT
    scope: str = "global"
    importance: Importance = Importance.MEDIUM
    sensitivity: Sensitivity = Sensitivity.NORMAL
    cwd: str | None = None


@frozen
class MetaPatch:
    """New values for some of an entry's frontmatter; None keeps what is there."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    scope: str | None = None
    importance: Importance | None = None
    sensitivity: Sensitivity | None = None
